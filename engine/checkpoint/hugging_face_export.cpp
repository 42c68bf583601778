// A Hugging Face folder, written.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_text.h"
#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/numbers.h"
#include "engine/holdings/parameters.h"

namespace heddle::checkpoint {

using holdings::Parameter;

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int64_t kPieceBytes = int64_t{64} << 20;

/// Asks for a parameter piece by piece and writes its rows in Hugging Face's order.
Result<> write_parameter(const Parameter& parameter, const RowSource& source, Dtype dtype,
                         SafetensorsWriter& writer) {
  const int64_t columns = parameter.columns();
  const int64_t unit = std::max<int64_t>(parameter.head_dim, 1);
  const int64_t units = kPieceBytes / (unit * columns * static_cast<int64_t>(sizeof(float)));
  const int64_t step = unit * std::max<int64_t>(units, 1);
  std::vector<float> own(static_cast<size_t>(std::min(step, parameter.rows()) * columns));
  std::vector<float> permuted(own.size());
  std::vector<std::byte> stored;
  for (int64_t begin = 0; begin < parameter.rows(); begin += step) {
    const int64_t end = std::min(begin + step, parameter.rows());
    if (auto done = source(parameter, begin, end, own.data()); !done) return done;
    for (int64_t row = begin; row < end; ++row)
      std::copy_n(own.data() + (row - begin) * columns, columns,
                  permuted.data() + (parameter.hugging_face_row(row) - begin) * columns);
    const auto piece = std::span(permuted).first(static_cast<size_t>((end - begin) * columns));
    from_floats(dtype, piece, stored);
    if (auto done = writer.write(stored); !done) return done;
  }
  return {};
}

int64_t bytes_of_tensor(const Parameter& parameter, Dtype dtype) {
  return parameter.rows() * parameter.columns() * bytes_of(dtype);
}

/// Parameters in files of at most so many bytes, or of one tensor.
std::vector<std::vector<Parameter>> shards_of(std::vector<Parameter> parameters,
                                              const Export& how) {
  std::ranges::sort(parameters, {}, &Parameter::hugging_face_name);
  std::vector<std::vector<Parameter>> shards(1);
  int64_t bytes = 0;
  for (Parameter& parameter : parameters) {
    const int64_t more = bytes_of_tensor(parameter, how.dtype);
    if (bytes > 0 && bytes + more > how.shard_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += more;
    shards.back().push_back(std::move(parameter));
  }
  return shards;
}

Result<> write_shard(const std::string& path, const std::vector<Parameter>& parameters,
                     const RowSource& source, Dtype dtype) {
  std::vector<TensorInfo> tensors;
  for (const Parameter& parameter : parameters)
    tensors.push_back({parameter.hugging_face_name, dtype, parameter.shape});
  auto writer = SafetensorsWriter::create(path, tensors, {{"format", "pt"}});
  if (!writer) return fail(writer);
  for (const Parameter& parameter : parameters)
    if (auto done = write_parameter(parameter, source, dtype, *writer); !done) return done;
  return writer->finish();
}

Result<> write_weights(const fs::path& folder, const recipe::Model& model, const RowSource& source,
                       const Export& how) {
  const auto shards = shards_of(holdings::parameters_of(model), how);
  if (shards.size() == 1)
    return write_shard(folder / kHuggingFaceWeights, shards.front(), source, how.dtype);
  ordered_json files = ordered_json::object();
  int64_t bytes = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    if (auto done = write_shard(folder / name, shards[i], source, how.dtype); !done) return done;
    for (const Parameter& parameter : shards[i]) {
      files[parameter.hugging_face_name] = name;
      bytes += bytes_of_tensor(parameter, how.dtype);
    }
  }
  const ordered_json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", files}};
  return write_atomically(folder / kHuggingFaceIndex, json_text(index, 2) + "\n", kReadable);
}

}  // namespace

Result<> write_hugging_face(const std::string& folder, const recipe::Model& model,
                            const RowSource& source, const Export& how) {
  const auto config = config_json(model, how);
  if (!config) return fail(config);
  const auto generation = generation_config_json(how);
  if (!generation) return fail(generation);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("{}: cannot be created: {}", folder, error.message());
  if (auto done = write_weights(folder, model, source, how); !done) return done;
  if (*generation)
    if (auto done = write_atomically(folder + '/' + kGenerationConfig, **generation, kReadable);
        !done)
      return done;
  return write_atomically(folder + '/' + kConfig, *config, kReadable);
}

}  // namespace heddle::checkpoint
