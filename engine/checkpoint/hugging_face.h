// Hugging Face's Llama checkpoints: config.json and safetensors, against Heddle's names and layout.
// Source of the layout: transformers' convert_llama_weights_to_hf.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/hugging_face_files.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/holdings/parameter.h"
#include "engine/recipe/recipe.h"

namespace heddle::checkpoint {

/// The model that FOLDER/config.json describes (preset and checkpoint stay empty). Both ways to
/// write RoPE's settings are read. A model that Heddle's Llama is not (another activation, sliding
/// window …) is refused with the key and its value.
Result<recipe::Model> read_config(const std::string& folder);

/// The same, as transformers 5 makes it of the folder's weights: embeddings are not tied where the
/// file has an output with other numbers. Reads both to their first difference; without weights
/// config.json alone counts.
Result<recipe::Model> read_hugging_face_model(const std::string& folder);

struct SpecialTokenIds {
  std::optional<int32_t> bos, eos, pad;
};

/// How a folder is written.
struct Export {
  Dtype dtype = Dtype::f32;                // or bf16, rounded to nearest
  int64_t shard_bytes = int64_t{4} << 30;  // of a file of weights, unless one tensor needs more
  std::string source = {};                 // the settings that the model came with: companions_of
  std::optional<SpecialTokenIds> tokens = {};  // none: as the source has them
  std::optional<int32_t> also_ends = {};       // a token at which texts end, besides the source's
};

/// The config.json of a model, for transformers to load. The source's, with the dtype and what has
/// changed since; without one as a Llama, with norms of queries and keys as a Qwen 3. An error if
/// transformers has no model like it.
Result<std::string> config_json(const recipe::Model& model, const Export& how = {});
/// Its generation_config.json: the source's, or a new one; none where the source has none.
Result<std::optional<std::string>> generation_config_json(const Export& how);

/// A Hugging Face folder opened for reading: config.json with model.safetensors, or with the shards
/// that model.safetensors.index.json names. Threads: const members may run side by side.
class HuggingFaceCheckpoint {
 public:
  /// Checks that every parameter of `model` is there with its shape: an error names tensor and
  /// file, and the shape found and expected. `open(folder)` takes the model from config.json.
  static Result<HuggingFaceCheckpoint> open(const std::string& folder, const recipe::Model& model);
  static Result<HuggingFaceCheckpoint> open(const std::string& folder);

  const recipe::Model& model() const { return model_; }
  const std::vector<holdings::Parameter>& parameters() const { return parameters_; }
  /// Notes for its user: tensors that nothing uses, an output that is not the embedding
  /// though config.json says so. A line each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Rows [row_begin, row_end) of a parameter, by Heddle's name and in Heddle's layout, as fp32
  /// (stored as F32, BF16, F16 or F64) into `out`, which holds (row_end - row_begin) · columns
  /// numbers.
  Result<> read_rows(std::string_view name, int64_t row_begin, int64_t row_end, float* out) const;
  /// After a parameter was read: its pages no longer count as this process's memory.
  void release(std::string_view name) const;

 private:
  HuggingFaceCheckpoint() = default;

  recipe::Model model_;
  std::vector<holdings::Parameter> parameters_;
  std::vector<SafetensorsFile> files_;
  std::vector<size_t> file_of_;  // of parameters_[i]
  std::vector<std::string> notes_;
};

/// Gives rows [row_begin, row_end) of a parameter in Heddle's layout.
using RowSource = std::function<Result<>(const holdings::Parameter& parameter, int64_t row_begin,
                                         int64_t row_end, float* out)>;

/// Writes FOLDER/config.json, perhaps generation_config.json, and the weights: model.safetensors,
/// or shards with an index. The source is asked for each parameter once, front to back in pieces of
/// whole heads of at most about 64 MiB, parameters in the order of their Hugging Face names.
Result<> write_hugging_face(const std::string& folder, const recipe::Model& model,
                            const RowSource& source, const Export& how = {});

}  // namespace heddle::checkpoint
