// A Hugging Face folder that a test may damage, and the reference checkpoints that it is made of.
#pragma once

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/weights.h"
#include "engine/holdings/parameters.h"
#include "tests/engine/checkpoint/files.h"

using namespace heddle::checkpoint;
using heddle::Result;
using nlohmann::json;
namespace holdings = heddle::holdings;
namespace recipe = heddle::recipe;
namespace fs = std::filesystem;

inline const std::string kReference = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/";
inline const std::string kTiny = kReference + "llama-tiny";
inline const std::string kTied = kReference + "llama-tiny-scaled-rope-tied";
inline const std::string kShapes = HEDDLE_SOURCE_DIR "/tests/fixtures/shapes/";
inline const std::string kQwen2 = kShapes + "qwen2", kQwen3 = kShapes + "qwen3-tied";

/// Hands out the rows of a checkpoint.
inline RowSource rows_of(const HuggingFaceCheckpoint& checkpoint) {
  return
      [&checkpoint](const holdings::Parameter& parameter, int64_t begin, int64_t end, float* out) {
        return checkpoint.read_rows(parameter.name(), begin, end, out);
      };
}

inline std::vector<float> all_rows(const HuggingFaceCheckpoint& checkpoint,
                                   const holdings::Parameter& parameter) {
  std::vector<float> values(static_cast<size_t>(parameter.rows() * parameter.columns()));
  const auto read = checkpoint.read_rows(parameter.name(), 0, parameter.rows(), values.data());
  return read ? values : std::vector<float>();
}

inline const holdings::Parameter& find(const std::vector<holdings::Parameter>& all,
                                       const std::string& name) {
  return *std::ranges::find(all, name, &holdings::Parameter::name);
}

inline uint16_t to_bf16(float value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
}

class HuggingFaceFolder {
 protected:
  std::unique_ptr<QTemporaryDir> folder_;

  std::string folder() { return folder_->path().toStdString(); }

  /// A copy of a reference checkpoint that a test may damage.
  std::string copy_of(const std::string& reference) {
    for (const char* file : {"config.json", "model.safetensors"})
      fs::copy_file(reference + "/" + file, folder() + "/" + file,
                    fs::copy_options::overwrite_existing);
    return folder();
  }

  /// The error of a folder, with the folder itself written as "F".
  QString refusal(const Result<HuggingFaceCheckpoint>& opened) {
    if (opened) return "accepted";
    return QString::fromStdString(opened.error().message)
        .replace(QString::fromStdString(folder()), "F");
  }

  void edit_config(const char* key, const json& value) {
    json config = json::parse(read_file(folder() + "/config.json"));
    config[key] = value;
    write_file(folder() + "/config.json", config.dump());
  }
};
