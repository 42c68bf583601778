#include "engine/checkpoint/hugging_face.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/checkpoint/numbers.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kReadBytes = int64_t{8} << 20;
constexpr size_t kReleasedBytes = size_t{1} << 20;  // fewer are left to `release`

/// The files of a folder, and which holds each tensor.
struct Shards {
  std::vector<SafetensorsFile> files;
  std::map<std::string, size_t, std::less<>> file_of;  // tensor → index of its file
};

Result<Shards> open_single(const std::string& path) {
  auto file = SafetensorsFile::open(path);
  if (!file) return fail(file);
  Shards shards;
  for (const TensorInfo& tensor : file->tensors()) shards.file_of.emplace(tensor.name, 0);
  shards.files.push_back(std::move(*file));
  return shards;
}

Result<Shards> open_sharded(const fs::path& folder) {
  const std::string index_path = folder / kHuggingFaceIndex;
  const auto index = read_json_file(index_path);
  if (!index) return fail(index);
  if (!index->is_object() || !index->contains("weight_map") || !(*index)["weight_map"].is_object())
    return fail("{}: no \"weight_map\" of tensors to files", index_path);
  Shards shards;
  std::map<std::string, size_t> opened;
  for (const auto& [tensor, shard] : index->at("weight_map").items()) {
    constexpr std::string_view kNoName("/\0", 2);
    if (!shard.is_string() ||
        shard.get_ref<const std::string&>().find_first_of(kNoName) != std::string::npos)
      return fail("{}: \"{}\" is in {}; valid: a file of the same folder", index_path, tensor,
                  json_text(shard));
    const auto& name = shard.get_ref<const std::string&>();
    const auto [place, is_new] = opened.emplace(name, shards.files.size());
    if (is_new) {
      auto file = SafetensorsFile::open(folder / name);
      if (!file) return fail(file);
      shards.files.push_back(std::move(*file));
    }
    shards.file_of.emplace(tensor, place->second);
  }
  return shards;
}

Result<Shards> open_shards(const fs::path& folder) {
  if (fs::exists(folder / kHuggingFaceWeights)) return open_single(folder / kHuggingFaceWeights);
  if (fs::exists(folder / kHuggingFaceIndex)) return open_sharded(folder);
  return fail("{}: neither {} nor {}; valid: a Hugging Face folder", folder.string(),
              kHuggingFaceWeights, kHuggingFaceIndex);
}

/// Sizes and tying must be the checkpoint's; RoPE's settings and the norms' epsilon are the
/// recipe's to change.
Result<> check_sizes(const std::string& folder, const recipe::Model& found,
                     const recipe::Model& expected) {
  const auto same = [&](const char* config_key, auto config_value, const char* key,
                        auto value) -> Result<> {
    if (config_value == value) return {};
    return fail("{}/config.json: {} = {}, but the model's {} = {}", folder, config_key,
                config_value, key, value);
  };
  for (const Result<>& check :
       {same("hidden_size", found.dim, "dim", expected.dim),
        same("num_hidden_layers", found.n_layers, "n_layers", expected.n_layers),
        same("num_attention_heads", found.n_heads, "n_heads", expected.n_heads),
        same("num_key_value_heads", found.n_kv_heads, "n_kv_heads", expected.n_kv_heads),
        same("head_dim", found.head_size(), "head_dim", expected.head_size()),
        same("attention_bias", found.attention_bias, "attention_bias", expected.attention_bias),
        same("model_type of biases on q, k and v", found.qkv_bias, "qkv_bias", expected.qkv_bias),
        same("mlp_bias", found.mlp_bias, "mlp_bias", expected.mlp_bias),
        same("model_type of norms on q and k", found.qk_norm, "qk_norm", expected.qk_norm),
        same("intermediate_size", found.ffn_dim, "ffn_dim", expected.ffn_dim),
        same("vocab_size", found.vocab_size, "vocab_size", expected.vocab_size),
        same("tie_word_embeddings", found.tied_embeddings, "tied_embeddings",
             expected.tied_embeddings)})
    if (!check) return check;
  return {};
}

/// Reads a parameter's tensor, from whichever file, or says what is wrong with it.
Result<> check_tensor(const SafetensorsFile& file, const Parameter& parameter) {
  const TensorInfo* tensor = file.find(parameter.hugging_face_name);
  if (!tensor) return fail("{}: no tensor \"{}\"", file.path(), parameter.hugging_face_name);
  if (tensor->shape != parameter.shape)
    return fail("{}: tensor \"{}\" has shape {}; expected {}", file.path(), tensor->name,
                shape_text(tensor->shape), shape_text(parameter.shape));
  if (!is_floating_point(tensor->dtype))
    return fail("{}: tensor \"{}\" is {}; valid: F32, BF16, F16, F64", file.path(), tensor->name,
                name_of(tensor->dtype));
  return {};
}

}  // namespace

Result<HuggingFaceCheckpoint> HuggingFaceCheckpoint::open(const std::string& folder) {
  const auto model = read_config(folder);
  if (!model) return fail(model);
  return open(folder, *model);
}

Result<HuggingFaceCheckpoint> HuggingFaceCheckpoint::open(const std::string& folder,
                                                          const recipe::Model& model) {
  const auto found = read_config(folder);
  if (!found) return fail(found);
  if (auto done = check_sizes(folder, *found, model); !done) return fail(done);
  auto shards = open_shards(folder);
  if (!shards) return fail(shards);

  HuggingFaceCheckpoint checkpoint;
  checkpoint.model_ = model;
  checkpoint.parameters_ = checkpoint::parameters(model);
  for (const Parameter& parameter : checkpoint.parameters_) {
    const auto file = shards->file_of.find(parameter.hugging_face_name);
    if (file == shards->file_of.end())
      return fail("{}: no tensor \"{}\"", folder, parameter.hugging_face_name);
    if (auto done = check_tensor(shards->files[file->second], parameter); !done) return fail(done);
    checkpoint.file_of_.push_back(file->second);
  }
  checkpoint.files_ = std::move(shards->files);
  return checkpoint;
}

Result<> HuggingFaceCheckpoint::read_rows(std::string_view name, int64_t row_begin, int64_t row_end,
                                          float* out) const {
  const auto parameter = std::ranges::find(parameters_, name, &Parameter::name);
  if (parameter == parameters_.end()) return fail("the model has no parameter \"{}\"", name);
  if (row_begin < 0 || row_begin > row_end || row_end > parameter->rows())
    return fail("\"{}\" has rows [0, {}), not [{}, {})", name, parameter->rows(), row_begin,
                row_end);
  const SafetensorsFile& file = files_[file_of_[parameter - parameters_.begin()]];
  const TensorInfo& tensor = *file.find(parameter->hugging_face_name);
  const auto bytes = file.data(tensor);
  const auto row_bytes = static_cast<size_t>(parameter->columns() * bytes_of(tensor.dtype));
  // A piece at a time, so that the file's pages do not pile up in this process's memory.
  const int64_t unit = std::max<int64_t>(parameter->head_dim, 1);  // rows that change places
  const int64_t rows_at_once =
      std::max<int64_t>(kReadBytes / static_cast<int64_t>(row_bytes) / unit, 1) * unit;
  for (int64_t begin = row_begin; begin < row_end;) {
    const int64_t end = std::min((begin / unit * unit) + rows_at_once, row_end);
    const auto piece = bytes.subspan(begin * row_bytes, (end - begin) * row_bytes);
    if (parameter->head_dim == 0) {
      to_floats(tensor.dtype, piece, out);
      out += (end - begin) * parameter->columns();
    } else {
      for (int64_t row = begin; row < end; ++row, out += parameter->columns())
        to_floats(tensor.dtype,
                  bytes.subspan(parameter->hugging_face_row(row) * row_bytes, row_bytes), out);
    }
    if (piece.size() >= kReleasedBytes) file.release(piece);
    begin = end;
  }
  return {};
}

void HuggingFaceCheckpoint::release(std::string_view name) const {
  const auto parameter = std::ranges::find(parameters_, name, &Parameter::name);
  if (parameter == parameters_.end()) return;
  const SafetensorsFile& file = files_[file_of_[parameter - parameters_.begin()]];
  file.release(file.data(*file.find(parameter->hugging_face_name)));
}

}  // namespace heddle::checkpoint
