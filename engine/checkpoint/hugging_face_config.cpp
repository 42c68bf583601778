// config.json of Hugging Face's Llama, Qwen 2 or Qwen 3, against recipe::Model.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/recipe/limits.h"

namespace heddle::checkpoint {
namespace {

using nlohmann::json;

/// Reads typed keys; the first fault is kept.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  int64_t count(const char* key, int64_t most, std::optional<int64_t> fallback = {}) {
    const json& value = at(key);
    if (value.is_null() && fallback) return *fallback;
    if (value.is_number_integer() && value >= 1 && value <= most) return value.get<int64_t>();
    complain(key, value, fmt::format("a whole number from 1 to {}", most));
    return 1;
  }

  double positive(const char* key, std::optional<double> fallback = {}) {
    const json& value = at(key);
    if (value.is_null() && fallback) return *fallback;
    if (value.is_number() && value > 0) return value.get<double>();
    complain(key, value, "a number above 0");
    return 1;
  }

  bool flag(const char* key, bool fallback) {
    const json& value = at(key);
    if (value.is_null()) return fallback;
    if (!value.is_boolean()) complain(key, value, "true or false");
    return value == true;
  }

  /// A key that must be absent, null or `only`, since Heddle's Llama has nothing else.
  void only(const char* key, const json& only) {
    const json& value = at(key);
    if (!value.is_null() && value != only) complain(key, value, json_text(only));
  }

  const json& at(const char* key) const {
    static const json kNull;
    const auto found = object_.find(key);
    return found == object_.end() ? kNull : *found;
  }

  void complain(const std::string& key, const json& value, const std::string& valid) {
    if (!fault_.empty()) return;
    fault_ = value.is_null()
                 ? fmt::format("{} is missing; valid: {}", key, valid)
                 : fmt::format("{} = {} is not supported; valid: {}", key, json_text(value), valid);
  }

  const std::string& fault() const { return fault_; }

 private:
  const json& object_;
  std::string fault_;
};

/// How much YaRN lengthens cos and sin: written, or from two scales (DeepSeek), else 0: by the
/// factor.
double attention_factor_of(Reader& reader, double factor) {
  if (!reader.at("attention_factor").is_null()) return reader.positive("attention_factor");
  if (reader.at("mscale").is_null() || reader.at("mscale_all_dim").is_null()) return 0;
  const double by = factor > 1 ? 0.1 * std::log(factor) : 0;
  return (reader.positive("mscale") * by + 1) / (reader.positive("mscale_all_dim") * by + 1);
}

/// `rope`: transformers 5's rope_parameters, or before it rope_scaling (then theta stands outside).
Result<> read_rope(const json& rope, const char* key, recipe::Model& model) {
  using recipe::RopeScaling, recipe::RopeType;
  if (!rope.is_object())
    return fail("{} = {} is not supported; valid: an object", key, json_text(rope));
  Reader reader(rope);
  const json& type = rope.contains("rope_type") ? reader.at("rope_type") : reader.at("type");
  model.rope_theta = reader.positive("rope_theta", model.rope_theta);
  reader.only("partial_rotary_factor", 1.0);
  const auto original = [&](std::optional<int64_t> fallback) {
    return reader.count("original_max_position_embeddings", recipe::kMostTokens, fallback);
  };
  if (type == "llama3") {
    model.rope_scaling = RopeScaling{.factor = reader.positive("factor"),
                                     .low_freq_factor = reader.positive("low_freq_factor"),
                                     .high_freq_factor = reader.positive("high_freq_factor"),
                                     .original_max_position = original({})};
  } else if (type == "linear") {
    model.rope_scaling = RopeScaling{.type = RopeType::linear, .factor = reader.positive("factor")};
  } else if (type == "yarn") {
    RopeScaling yarn{.type = RopeType::yarn};
    yarn.original_max_position = original(model.max_seq_len);
    yarn.factor = reader.positive("factor", static_cast<double>(model.max_seq_len) /
                                                static_cast<double>(yarn.original_max_position));
    yarn.beta_fast = reader.positive("beta_fast", yarn.beta_fast);
    yarn.beta_slow = reader.positive("beta_slow", yarn.beta_slow);
    yarn.attention_factor = attention_factor_of(reader, yarn.factor);
    yarn.truncate = reader.flag("truncate", true);
    model.rope_scaling = yarn;
  } else if (!type.is_null() && type != "default") {
    reader.complain("rope_type", type, "\"default\", \"linear\", \"llama3\" or \"yarn\"");
  }
  if (!reader.fault().empty()) return fail("{}.{}", key, reader.fault());
  return {};
}

/// What a configuration of transformers takes where config.json leaves it out.
struct Fallbacks {
  int64_t max_seq_len;
  int64_t head_dim;    // 0: hidden_size over the heads
  int64_t n_kv_heads;  // 0: as many as heads
};

Fallbacks fallbacks_of(const json& model_type) {
  if (model_type == "qwen2") return {32768, 0, 32};
  if (model_type == "qwen3") return {32768, 128, 32};
  return {2048, 0, 0};
}

/// Qwen 2 is a Llama with biases of queries, keys and values, Qwen 3 one whose queries and keys are
/// normed; all their layers must see all tokens.
void read_qwen(Reader& reader) {
  reader.only("use_sliding_window", false);
  const json& types = reader.at("layer_types");
  for (const json& type : types.is_array() ? types : json::array())
    if (type != "full_attention") reader.complain("layer_types", types, "\"full_attention\" alone");
}

Result<recipe::Model> read_model(const json& config) {
  if (!config.is_object()) return fail("not a JSON object; valid: the config.json of a Llama");
  Reader reader(config);
  const json& type = reader.at("model_type");
  if (type != "llama" && type != "qwen2" && type != "qwen3") {
    return fail("model_type {}; valid: \"llama\", \"qwen2\" or \"qwen3\"",
                type.is_null() ? "is missing" : "= " + json_text(type) + " is not supported");
  }
  const Fallbacks fallbacks = fallbacks_of(type);
  reader.only("hidden_act", "silu");
  reader.only("attention_dropout", 0.0);
  reader.only("quantization_config", nullptr);
  if (type == "llama")
    reader.only("sliding_window", nullptr);
  else
    read_qwen(reader);

  recipe::Model model;
  model.dim = reader.count("hidden_size", recipe::kMostWidth);
  model.n_layers = reader.count("num_hidden_layers", recipe::kMostLayers);
  model.n_heads = reader.count("num_attention_heads", recipe::kMostWidth);
  model.n_kv_heads = reader.count(
      "num_key_value_heads", recipe::kMostWidth,
      fallbacks.n_kv_heads > 0 && !config.contains("num_key_value_heads") ? fallbacks.n_kv_heads
                                                                          : model.n_heads);
  model.ffn_dim = reader.count("intermediate_size", 4 * recipe::kMostWidth);
  model.vocab_size = reader.count("vocab_size", recipe::kMostVocabulary);
  model.max_seq_len =
      reader.count("max_position_embeddings", recipe::kMostTokens, fallbacks.max_seq_len);
  model.norm_eps = reader.positive("rms_norm_eps", 1e-6);
  model.rope_theta = reader.positive("rope_theta", 10000.0);
  model.tied_embeddings = reader.flag("tie_word_embeddings", false);
  model.qkv_bias = type == "qwen2";
  // transformers' Qwen 2 has the biases that it has, whatever this says.
  model.attention_bias = reader.flag("attention_bias", false) && !model.qkv_bias;
  if (model.qkv_bias) reader.only("mlp_bias", false);
  model.mlp_bias = reader.flag("mlp_bias", false);
  model.qk_norm = type == "qwen3";

  const int64_t even = model.dim % model.n_heads == 0 ? model.dim / model.n_heads : 0;
  if (!reader.at("head_dim").is_null() || fallbacks.head_dim > 0) {
    model.head_dim = reader.count("head_dim", recipe::kMostWidth, fallbacks.head_dim);
    if (model.head_dim % 2 != 0) reader.complain("head_dim", model.head_dim, "an even number");
    if (model.head_dim == even) model.head_dim = 0;
  } else if (even == 0 || even % 2 != 0) {
    reader.complain(
        "num_attention_heads", model.n_heads,
        fmt::format("a divisor of hidden_size {} that gives an even head size", model.dim));
  }
  if (model.n_heads % model.n_kv_heads != 0)
    reader.complain("num_key_value_heads", model.n_kv_heads,
                    fmt::format("a divisor of num_attention_heads {}", model.n_heads));
  if (!reader.fault().empty()) return fail("{}", reader.fault());

  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (reader.at(key).is_null()) continue;
    if (auto done = read_rope(reader.at(key), key, model); !done) return fail(done);
  }
  return model;
}

}  // namespace

Result<recipe::Model> read_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Result<json> config = read_json_file(path);
  if (!config)
    return fail("{}; valid: a Hugging Face folder's config.json", config.error().message);
  auto model = read_model(*config);
  if (!model) return fail("{}: {}", path, excerpt(model.error().message));
  return model;
}

namespace {

nlohmann::ordered_json rope_json(const recipe::RopeScaling& scaling) {
  using recipe::RopeType;
  if (scaling.type == RopeType::linear)
    return {{"rope_type", "linear"}, {"factor", scaling.factor}};
  if (scaling.type == RopeType::llama3)
    return {{"rope_type", "llama3"},
            {"factor", scaling.factor},
            {"low_freq_factor", scaling.low_freq_factor},
            {"high_freq_factor", scaling.high_freq_factor},
            {"original_max_position_embeddings", scaling.original_max_position}};
  nlohmann::ordered_json rope = {
      {"rope_type", "yarn"},
      {"factor", scaling.factor},
      {"original_max_position_embeddings", scaling.original_max_position},
      {"beta_fast", scaling.beta_fast},
      {"beta_slow", scaling.beta_slow},
      {"truncate", scaling.truncate}};
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

}  // namespace

Result<std::string> config_json(const recipe::Model& model, const Export& how) {
  const auto family = family_of(model);
  if (!family) return fail(family);
  nlohmann::ordered_json rope = {{"rope_type", "default"}};
  if (model.rope_scaling) rope = rope_json(*model.rope_scaling);
  nlohmann::ordered_json config = {
      {"architectures", {family->architecture}},
      {"model_type", family->model_type},
      {"hidden_size", model.dim},
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
      {"tie_word_embeddings", model.tied_embeddings},
      {"bos_token_id", nullptr},
      {"eos_token_id", nullptr},
      {"torch_dtype", how.dtype == Dtype::bf16 ? "bfloat16" : "float32"}};
  if (how.bos_id) config["bos_token_id"] = *how.bos_id;
  if (how.eos_id) config["eos_token_id"] = *how.eos_id;
  // Before transformers 5, then since.
  config["rope_theta"] = model.rope_theta;
  if (model.rope_scaling) config["rope_scaling"] = rope;
  rope["rope_theta"] = model.rope_theta;
  config["rope_parameters"] = rope;
  return json_text(config, 2) + "\n";
}

}  // namespace heddle::checkpoint
