// config.json of Hugging Face's Llama, Mistral, Qwen 2 or Qwen 3, read into recipe::Model.
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

  bool has(const char* key) const { return object_.contains(key); }

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
/// factor. transformers ignores the scales where one of them is 0.
double attention_factor_of(Reader& reader, double factor) {
  if (!reader.at("attention_factor").is_null()) return reader.positive("attention_factor");
  const auto scale_of = [&](const char* key) {
    const json& value = reader.at(key);
    return value.is_null() || value == 0 ? 0.0 : reader.positive(key);
  };
  const double scale = scale_of("mscale"), all = scale_of("mscale_all_dim");
  if (scale == 0 || all == 0) return 0;
  const double by = factor > 1 ? 0.1 * std::log(factor) : 0;
  return (scale * by + 1) / (all * by + 1);
}

/// `rope`: transformers 5's rope_parameters, or before it rope_scaling (then theta is outside).
/// `original`: the length of pre-training where that is outside, else 0.
Result<> read_rope(const json& rope, const char* key, int64_t original, recipe::Model& model) {
  using recipe::RopeScaling, recipe::RopeType;
  if (!rope.is_object())
    return fail("{} = {} is not supported; valid: an object", key, json_text(rope));
  Reader reader(rope);
  const json& type = rope.contains("rope_type") ? reader.at("rope_type") : reader.at("type");
  model.rope_theta = reader.positive("rope_theta", model.rope_theta);
  reader.only("partial_rotary_factor", 1.0);
  // As transformers 5 has it: first the one outside, last the longest sequence.
  const auto original_length = [&] {
    if (original > 0) return original;
    return reader.count("original_max_position_embeddings", recipe::kMaxTokens, model.max_seq_len);
  };
  if (type == "llama3") {
    model.rope_scaling = RopeScaling{.factor = reader.positive("factor"),
                                     .low_freq_factor = reader.positive("low_freq_factor"),
                                     .high_freq_factor = reader.positive("high_freq_factor"),
                                     .original_max_position = original_length()};
  } else if (type == "linear") {
    model.rope_scaling = RopeScaling{.type = RopeType::linear, .factor = reader.positive("factor")};
  } else if (type == "yarn") {
    RopeScaling yarn{.type = RopeType::yarn};
    yarn.original_max_position = original_length();
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

/// The defaults of a configuration of transformers, where config.json leaves a key out.
struct Fallbacks {
  int64_t max_seq_len;
  int64_t head_dim;    // 0: hidden_size over the heads
  int64_t n_kv_heads;  // 0: as many as heads
};

Fallbacks fallbacks_of(const json& model_type) {
  if (model_type == "qwen2") return {32768, 0, 32};
  if (model_type == "qwen3") return {32768, 128, 32};
  if (model_type == "mistral") return {131072, 0, 8};
  return {2048, 0, 0};
}

constexpr int64_t kWindow = 4096;         // the default of sliding_window
constexpr int64_t kFirstWithWindow = 28;  // of max_window_layers, Qwen's

/// A sliding window must not hide a token: none, one of the longest sequence, or one that no layer
/// uses. transformers' Llama has none, whatever config.json says.
void check_window(Reader& reader, const json& type, const recipe::Model& model) {
  if (type == "llama") return;
  if (type != "mistral") {
    const json& layers = reader.at("layer_types");
    for (const json& layer : layers.is_array() ? layers : json::array())
      if (layer != "full_attention")
        return reader.complain("layer_types", layers, "\"full_attention\" alone");
    if (!layers.is_null() || !reader.flag("use_sliding_window", false)) return;
    const json& written = reader.at("max_window_layers");
    const json first = written.is_null() ? json(kFirstWithWindow) : written;
    if (!first.is_number_integer())
      return reader.complain("max_window_layers", first, "a whole number");
    if (first >= model.n_layers) return;
  }
  if (reader.has("sliding_window") && reader.at("sliding_window").is_null()) return;
  const int64_t window = reader.count("sliding_window", recipe::kMaxTokens, kWindow);
  if (window < model.max_seq_len)
    reader.complain("sliding_window", window,
                    fmt::format("null, or at least max_position_embeddings {}", model.max_seq_len));
}

Result<recipe::Model> read_model(const json& config) {
  if (!config.is_object()) return fail("not a JSON object; valid: the config.json of a Llama");
  Reader reader(config);
  const json& type = reader.at("model_type");
  const bool is_known = type == "llama" || type == "mistral" || type == "qwen2" || type == "qwen3";
  if (!is_known) {
    return fail("model_type {}; valid: \"llama\", \"mistral\", \"qwen2\" or \"qwen3\"",
                type.is_null() ? "is missing" : "= " + json_text(type) + " is not supported");
  }
  const Fallbacks fallbacks = fallbacks_of(type);
  if (reader.at("hidden_act") != "swish") reader.only("hidden_act", "silu");  // one function
  reader.only("attention_dropout", 0.0);
  reader.only("quantization_config", nullptr);
  reader.only("partial_rotary_factor", 1.0);

  recipe::Model model;
  model.dim = reader.count("hidden_size", recipe::kMaxWidth);
  model.n_layers = reader.count("num_hidden_layers", recipe::kMaxLayers);
  model.n_heads = reader.count("num_attention_heads", recipe::kMaxWidth);
  model.n_kv_heads = reader.count(
      "num_key_value_heads", recipe::kMaxWidth,
      fallbacks.n_kv_heads > 0 && !config.contains("num_key_value_heads") ? fallbacks.n_kv_heads
                                                                          : model.n_heads);
  model.ffn_dim = reader.count("intermediate_size", 4 * recipe::kMaxWidth);
  model.vocab_size = reader.count("vocab_size", recipe::kMaxVocabulary);
  model.max_seq_len =
      reader.count("max_position_embeddings", recipe::kMaxTokens, fallbacks.max_seq_len);
  model.norm_eps = reader.positive("rms_norm_eps", 1e-6);
  model.rope_theta = reader.positive("rope_theta", 10000.0);
  model.tied_embeddings = reader.flag("tie_word_embeddings", false);
  model.qkv_bias = type == "qwen2";
  // transformers' Qwen 2 and Mistral have the biases that they have, whatever this says.
  const bool is_free = type == "llama" || type == "qwen3";
  model.attention_bias = reader.flag("attention_bias", false) && is_free;
  if (type != "llama") reader.only("mlp_bias", false);
  model.mlp_bias = reader.flag("mlp_bias", false);
  model.qk_norm = type == "qwen3";
  check_window(reader, type, model);

  const int64_t even = model.dim % model.n_heads == 0 ? model.dim / model.n_heads : 0;
  if (!reader.at("head_dim").is_null() || fallbacks.head_dim > 0) {
    model.head_dim = reader.count("head_dim", recipe::kMaxWidth, fallbacks.head_dim);
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
  const int64_t original =
      reader.at("original_max_position_embeddings").is_null()
          ? 0
          : reader.count("original_max_position_embeddings", recipe::kMaxTokens);
  if (!reader.fault().empty()) return fail("{}", reader.fault());

  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (reader.at(key).is_null()) continue;
    if (auto done = read_rope(reader.at(key), key, original, model); !done) return fail(done);
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

}  // namespace heddle::checkpoint
