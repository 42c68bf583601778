// config.json and generation_config.json, written: as the model came with them, but for what has
// changed since, or new ones.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/manifest.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json, nlohmann::ordered_json;

ordered_json rope_json(const recipe::RopeScaling& scaling) {
  using recipe::RopeType;
  if (scaling.type == RopeType::linear)
    return {{"rope_type", "linear"}, {"factor", scaling.factor}};
  if (scaling.type == RopeType::llama3)
    return {{"rope_type", "llama3"},
            {"factor", scaling.factor},
            {"low_freq_factor", scaling.low_freq_factor},
            {"high_freq_factor", scaling.high_freq_factor},
            {"original_max_position_embeddings", scaling.original_max_position}};
  ordered_json rope = {{"rope_type", "yarn"},
                       {"factor", scaling.factor},
                       {"original_max_position_embeddings", scaling.original_max_position},
                       {"beta_fast", scaling.beta_fast},
                       {"beta_slow", scaling.beta_slow}};
  // transformers before 5 warns of this key, and truncates.
  if (!scaling.truncate) rope["truncate"] = false;
  if (scaling.attention_factor > 0) rope["attention_factor"] = scaling.attention_factor;
  return rope;
}

struct Family {
  const char* architecture;
  const char* model_type;
};

/// Which of transformers' models this is.
Result<Family> family_of(const recipe::Model& model) {
  const auto no_such = [](const char* one, const char* other) {
    return fail("transformers has no Llama with both model.{} and model.{}; valid: one of them",
                one, other);
  };
  if (model.qk_norm && model.mlp_bias) return no_such("qk_norm", "mlp_bias");
  if (model.qk_norm && model.qkv_bias) return no_such("qk_norm", "qkv_bias");
  if (model.qkv_bias && model.mlp_bias) return no_such("qkv_bias", "mlp_bias");
  if (model.qkv_bias) return Family{"Qwen2ForCausalLM", "qwen2"};
  if (model.qk_norm) return Family{"Qwen3ForCausalLM", "qwen3"};
  return Family{"LlamaForCausalLM", "llama"};
}

/// The model's numbers by the names that they have there, but for RoPE's.
ordered_json sizes_of(const recipe::Model& model) {
  return {{"hidden_size", model.dim},
          {"num_hidden_layers", model.n_layers},
          {"num_attention_heads", model.n_heads},
          {"num_key_value_heads", model.n_kv_heads},
          {"head_dim", model.head_size()},
          {"intermediate_size", model.ffn_dim},
          {"vocab_size", model.vocab_size},
          {"max_position_embeddings", model.max_seq_len},
          {"rms_norm_eps", model.norm_eps},
          {"hidden_act", "silu"},
          {"attention_bias", model.biases_qkv()},
          {"mlp_bias", model.mlp_bias},
          {"attention_dropout", 0.0},
          {"tie_word_embeddings", model.tied_embeddings}};
}

/// RoPE's settings as transformers reads them before version 5, and since.
ordered_json rope_of(const recipe::Model& model) {
  ordered_json rope = {{"rope_type", "default"}}, config;
  if (model.rope_scaling) rope = rope_json(*model.rope_scaling);
  config["rope_theta"] = model.rope_theta;
  if (model.rope_scaling) config["rope_scaling"] = rope;
  rope["rope_theta"] = model.rope_theta;
  config["rope_parameters"] = rope;
  return config;
}

/// The tokens' ids, where they are not the source's.
template <typename Json>
void set_tokens(Json& config, const Export& how) {
  if (!how.tokens) return;
  const auto set = [&](const char* key, std::optional<int32_t> id) {
    if (id)
      config[key] = *id;
    else if (config.contains(key))
      config[key] = nullptr;
  };
  set("bos_token_id", how.tokens->bos);
  set("eos_token_id", how.tokens->eos);
  set("pad_token_id", how.tokens->pad);
}

/// Adds the token that the run has put after documents to those at which generation stops.
void add_end(json& config, const Export& how) {
  if (!how.also_ends) return;
  json& written = config["eos_token_id"];
  json ends = written.is_array() ? written : json::array();
  if (written.is_number_integer()) ends.push_back(written);
  if (std::ranges::find(ends, json(*how.also_ends)) != ends.end()) return;
  ends.push_back(*how.also_ends);
  written = ends.size() == 1 ? ends.front() : ends;
}

const char* name_of_dtype(const Export& how) {
  return how.dtype == Dtype::bf16 ? "bfloat16" : "float32";
}

std::string new_config(const recipe::Model& model, const Family& family, const Export& how) {
  ordered_json config = {{"architectures", {family.architecture}},
                         {"model_type", family.model_type}};
  config.update(sizes_of(model));
  config["bos_token_id"] = nullptr;
  config["eos_token_id"] = nullptr;
  set_tokens(config, how);
  config["torch_dtype"] = name_of_dtype(how);
  config.update(rope_of(model));
  return json_text(config, 2) + "\n";
}

/// Without what only a recipe says, and with what it may leave open.
recipe::Model plain(recipe::Model model) {
  model.preset.clear();
  model.checkpoint.clear();
  model.head_dim = model.head_size();
  return model;
}

/// Whether a model may have come from `source`: only its tying, which the weights decide, and how
/// they are read may differ.
bool is_of(recipe::Model source, const recipe::Model& model) {
  source.tied_embeddings = model.tied_embeddings;
  return check_fit(source, model).has_value();
}

/// A source's config.json: what no longer holds is replaced.
std::string changed_config(json config, const recipe::Model& source, const recipe::Model& model,
                           const Family& family, const Export& how) {
  const bool is_mistral = config.at("model_type") == "mistral";
  config["architectures"] = {is_mistral ? "MistralForCausalLM" : family.architecture};
  config.erase("auto_map");  // code that does not come along
  config.update(json(rope_of(model)));
  if (source != model) {
    config.update(json(sizes_of(model)));
    if (!model.rope_scaling) config.erase("rope_scaling");
    config.erase("original_max_position_embeddings");  // rope_parameters has it
  }
  // No layer uses it: read_config saw to that. Longer sequences must not wake it, and transformers
  // before 5 warns of it.
  if (config.contains("sliding_window")) config["sliding_window"] = nullptr;
  set_tokens(config, how);
  add_end(config, how);
  config["torch_dtype"] = name_of_dtype(how);
  if (config.contains("dtype")) config["dtype"] = name_of_dtype(how);
  return json_text(config, 2) + "\n";
}

}  // namespace

Result<std::string> config_json(const recipe::Model& model, const Export& how) {
  const auto family = family_of(model);
  if (!family) return fail(family);
  if (how.source.empty()) return new_config(model, *family, how);
  const auto source = read_config(how.source);
  if (!source || !is_of(plain(*source), plain(model))) return new_config(model, *family, how);
  auto config = read_json_file(how.source + '/' + kConfig);
  if (!config) return fail(config);
  return changed_config(std::move(*config), plain(*source), plain(model), *family, how);
}

Result<std::optional<std::string>> generation_config_json(const Export& how) {
  const std::string path = how.source + '/' + kGenerationConfig;
  std::error_code unknown;
  if (!how.source.empty() && fs::exists(path, unknown)) {
    auto config = read_json_file(path);
    if (!config) return fail(config);
    if (!config->is_object()) return fail("{}: not a JSON object", path);
    set_tokens(*config, how);
    add_end(*config, how);
    return json_text(*config, 2) + "\n";
  }
  if (!how.source.empty() && !how.tokens) return std::nullopt;  // config.json says it all
  ordered_json config = {{"_from_model_config", true}};
  set_tokens(config, how);
  return json_text(config, 2) + "\n";
}

}  // namespace heddle::checkpoint
