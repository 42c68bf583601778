// config.json of Hugging Face's Llama against recipe::Model.
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

/// `rope`: transformers 5's rope_parameters, or before it rope_scaling (then theta stands outside).
Result<> read_rope(const json& rope, const char* key, recipe::Model& model) {
  if (!rope.is_object())
    return fail("{} = {} is not supported; valid: an object", key, json_text(rope));
  Reader reader(rope);
  const json& type = rope.contains("rope_type") ? reader.at("rope_type") : reader.at("type");
  model.rope_theta = reader.positive("rope_theta", model.rope_theta);
  reader.only("partial_rotary_factor", 1.0);
  if (type == "llama3") {
    model.rope_scaling =
        recipe::RopeScaling{.factor = reader.positive("factor"),
                            .low_freq_factor = reader.positive("low_freq_factor"),
                            .high_freq_factor = reader.positive("high_freq_factor"),
                            .original_max_position = reader.count(
                                "original_max_position_embeddings", recipe::kMostTokens)};
  } else if (!type.is_null() && type != "default") {
    reader.complain("rope_type", type, "\"default\" or \"llama3\"");
  }
  if (!reader.fault().empty()) return fail("{}.{}", key, reader.fault());
  return {};
}

Result<recipe::Model> read_model(const json& config) {
  if (!config.is_object()) return fail("not a JSON object; valid: the config.json of a Llama");
  Reader reader(config);
  if (reader.at("model_type") != "llama") {
    return fail("model_type {}; valid: \"llama\"",
                reader.at("model_type").is_null()
                    ? "is missing"
                    : "= " + json_text(reader.at("model_type")) + " is not supported");
  }
  reader.only("hidden_act", "silu");
  reader.only("attention_bias", false);
  reader.only("mlp_bias", false);
  reader.only("attention_dropout", 0.0);
  reader.only("sliding_window", nullptr);
  reader.only("quantization_config", nullptr);

  recipe::Model model;
  model.dim = reader.count("hidden_size", recipe::kMostWidth);
  model.n_layers = reader.count("num_hidden_layers", recipe::kMostLayers);
  model.n_heads = reader.count("num_attention_heads", recipe::kMostWidth);
  model.n_kv_heads = reader.count("num_key_value_heads", recipe::kMostWidth, model.n_heads);
  model.ffn_dim = reader.count("intermediate_size", 4 * recipe::kMostWidth);
  model.vocab_size = reader.count("vocab_size", recipe::kMostVocabulary);
  // The fallbacks of transformers' LlamaConfig.
  model.max_seq_len = reader.count("max_position_embeddings", recipe::kMostTokens, 2048);
  model.norm_eps = reader.positive("rms_norm_eps", 1e-6);
  model.rope_theta = reader.positive("rope_theta", 10000.0);
  model.tied_embeddings = reader.flag("tie_word_embeddings", false);

  if (model.dim % model.n_heads != 0 || model.head_dim() % 2 != 0)
    reader.complain(
        "num_attention_heads", model.n_heads,
        fmt::format("a divisor of hidden_size {} that gives an even head size", model.dim));
  if (model.n_heads % model.n_kv_heads != 0)
    reader.complain("num_key_value_heads", model.n_kv_heads,
                    fmt::format("a divisor of num_attention_heads {}", model.n_heads));
  reader.only("head_dim", model.head_dim());
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

std::string config_json(const recipe::Model& model) {
  nlohmann::ordered_json rope = {{"rope_type", "default"}};
  if (model.rope_scaling) {
    rope = {{"rope_type", "llama3"},
            {"factor", model.rope_scaling->factor},
            {"low_freq_factor", model.rope_scaling->low_freq_factor},
            {"high_freq_factor", model.rope_scaling->high_freq_factor},
            {"original_max_position_embeddings", model.rope_scaling->original_max_position}};
  }
  nlohmann::ordered_json config = {{"architectures", {"LlamaForCausalLM"}},
                                   {"model_type", "llama"},
                                   {"hidden_size", model.dim},
                                   {"num_hidden_layers", model.n_layers},
                                   {"num_attention_heads", model.n_heads},
                                   {"num_key_value_heads", model.n_kv_heads},
                                   {"head_dim", model.head_dim()},
                                   {"intermediate_size", model.ffn_dim},
                                   {"vocab_size", model.vocab_size},
                                   {"max_position_embeddings", model.max_seq_len},
                                   {"rms_norm_eps", model.norm_eps},
                                   {"hidden_act", "silu"},
                                   {"attention_bias", false},
                                   {"mlp_bias", false},
                                   {"attention_dropout", 0.0},
                                   {"tie_word_embeddings", model.tied_embeddings},
                                   {"bos_token_id", nullptr},
                                   {"eos_token_id", nullptr},
                                   {"torch_dtype", "float32"}};
  // Before transformers 5, then since.
  config["rope_theta"] = model.rope_theta;
  if (model.rope_scaling) config["rope_scaling"] = rope;
  rope["rope_theta"] = model.rope_theta;
  config["rope_parameters"] = rope;
  return json_text(config, 2) + "\n";
}

}  // namespace heddle::checkpoint
