// The files of weights in a Hugging Face folder, and which of them holds each tensor.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/safetensors.h"

namespace heddle::checkpoint {

/// One file, or an index of several.
inline constexpr const char* kHuggingFaceWeights = "model.safetensors";
inline constexpr const char* kHuggingFaceIndex = "model.safetensors.index.json";

inline constexpr std::string_view kEmbedding = "model.embed_tokens.weight";
inline constexpr std::string_view kHead = "lm_head.weight";

struct HuggingFaceFiles {
  std::vector<SafetensorsFile> files;
  std::map<std::string, size_t, std::less<>> file_of;  // tensor → index of its file

  bool has(std::string_view tensor) const { return file_of.contains(tensor); }
  /// The file of a tensor that is there.
  const SafetensorsFile& file(std::string_view tensor) const {
    return files[file_of.find(tensor)->second];
  }
};

using Wanted = std::function<bool(std::string_view tensor)>;

/// Opens model.safetensors; or of an index the files with tensors that are `wanted`, all without
/// it.
Result<HuggingFaceFiles> open_files(const std::string& folder, const Wanted& wanted = {});

/// Whether there is an output whose numbers are not the embedding's. Reads both to the first
/// difference.
bool has_own_head(const HuggingFaceFiles& files);

}  // namespace heddle::checkpoint
