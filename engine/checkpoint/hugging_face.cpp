#include "engine/checkpoint/hugging_face.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/checkpoint/hugging_face_files.h"
#include "engine/checkpoint/numbers.h"
#include "engine/holdings/parameters.h"

namespace heddle::checkpoint {

using holdings::Parameter;

namespace {

constexpr int64_t kRowsBytes = int64_t{8} << 20;
constexpr size_t kMaxNames = 10;                    // of tensors in a message
constexpr size_t kReleasedBytes = size_t{1} << 20;  // fewer are left to `release`

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
Result<> check_parameter_tensor(const SafetensorsFile& file, const Parameter& parameter) {
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

/// "model.layers.3.self_attn.q_proj.bias" → "model.layers.*.self_attn.q_proj.bias".
std::string with_any_layer(std::string_view tensor) {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = tensor.find(kLayers);
  if (at == std::string_view::npos) return std::string(tensor);
  const size_t begin = at + kLayers.size(), end = tensor.find_first_not_of("0123456789", begin);
  if (end == begin || end == std::string_view::npos) return std::string(tensor);
  return fmt::format("{}*{}", tensor.substr(0, begin), tensor.substr(end));
}

/// Older files hold RoPE's frequencies, which follow from config.json; tied ones may hold the
/// embedding twice.
bool is_repeated(std::string_view tensor, const recipe::Model& model) {
  return tensor.ends_with(".rotary_emb.inv_freq") || (model.tied_embeddings && tensor == kHead);
}

/// A line that names the tensors which no parameter is read from; empty: there is none.
std::string unused_tensors(const std::string& folder, const HuggingFaceFiles& files,
                           const recipe::Model& model, const std::vector<Parameter>& parameters) {
  std::set<std::string_view> used;
  for (const Parameter& parameter : parameters) used.insert(parameter.hugging_face_name);
  std::map<std::string, int64_t> unused;
  int64_t all = 0;
  bool biases = false;
  for (const auto& [tensor, file] : files.file_of) {
    if (used.contains(tensor) || is_repeated(tensor, model)) continue;
    ++unused[with_any_layer(tensor)];
    ++all;
    biases = biases || tensor.ends_with(".bias");
  }
  if (all == 0) return {};
  std::vector<std::string> names;
  for (const auto& [name, count] : unused) {
    if (names.size() == kMaxNames) {
      names.emplace_back("…");
      break;
    }
    names.push_back(count > 1 ? fmt::format("{} ({})", name, count) : name);
  }
  return fmt::format(
      "{}: nothing uses {} of its tensors: {}{}", folder, all, fmt::join(names, ", "),
      biases ? "; in config.json attention_bias and mlp_bias say whether a Llama has "
               "biases"
             : "");
}

}  // namespace

Result<recipe::Model> read_hugging_face_model(const std::string& folder) {
  auto model = read_config(folder);
  if (!model || !model->tied_embeddings) return model;
  const auto files = open_files(
      folder, [](std::string_view tensor) { return tensor == kHead || tensor == kEmbedding; });
  // The reader of the weights reports their faults.
  if (files && has_own_head(*files)) model->tied_embeddings = false;
  return model;
}

Result<HuggingFaceCheckpoint> HuggingFaceCheckpoint::open(const std::string& folder) {
  const auto model = read_hugging_face_model(folder);
  if (!model) return fail(model);
  return open(folder, *model);
}

Result<HuggingFaceCheckpoint> HuggingFaceCheckpoint::open(const std::string& folder,
                                                          const recipe::Model& model) {
  auto found = read_config(folder);
  if (!found) return fail(found);
  auto files = open_files(folder);
  if (!files) return fail(files);
  HuggingFaceCheckpoint checkpoint;
  if (found->tied_embeddings && has_own_head(*files)) {
    found->tied_embeddings = false;
    checkpoint.notes_.push_back(fmt::format(
        "{}: {} differs from {}, though config.json has tie_word_embeddings = true: the output "
        "keeps its own weights, as in transformers 5 (before, the embedding's took their place)",
        folder, kHead, kEmbedding));
  }
  if (auto done = check_sizes(folder, *found, model); !done) return fail(done);

  checkpoint.model_ = model;
  checkpoint.parameters_ = holdings::parameters_of(model);
  for (Parameter& parameter : checkpoint.parameters_) {
    // Either one of a tied pair may be stored.
    if (model.tied_embeddings && parameter.hugging_face_name == kEmbedding &&
        !files->has(kEmbedding))
      parameter.hugging_face_name = kHead;
    const auto file = files->file_of.find(parameter.hugging_face_name);
    if (file == files->file_of.end())
      return fail("{}: no tensor \"{}\"{}", folder, parameter.hugging_face_name,
                  parameter.hugging_face_name == kHead
                      ? "; where the embedding is the output, config.json has tie_word_embeddings "
                        "= true"
                      : "");
    if (auto done = check_parameter_tensor(files->files[file->second], parameter); !done)
      return fail(done);
    checkpoint.file_of_.push_back(file->second);
  }
  if (std::string line = unused_tensors(folder, *files, model, checkpoint.parameters_);
      !line.empty())
    checkpoint.notes_.push_back(std::move(line));
  checkpoint.files_ = std::move(files->files);
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
      std::max<int64_t>(kRowsBytes / static_cast<int64_t>(row_bytes) / unit, 1) * unit;
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
