#include "engine/holdings/hugging_face_names.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace heddle::holdings {
namespace {

struct Names {
  std::string_view heddle;
  std::string_view hugging_face;
};

constexpr std::array kOutsideLayers = {
    Names{"tok_embeddings", "model.embed_tokens"},
    Names{"norm", "model.norm"},
    Names{"output", "lm_head"},
};
constexpr std::array kInLayer = {
    Names{"attention_norm", "input_layernorm"},    Names{"attention.wq", "self_attn.q_proj"},
    Names{"attention.wk", "self_attn.k_proj"},     Names{"attention.wv", "self_attn.v_proj"},
    Names{"attention.q_norm", "self_attn.q_norm"}, Names{"attention.k_norm", "self_attn.k_norm"},
    Names{"attention.wo", "self_attn.o_proj"},     Names{"ffn_norm", "post_attention_layernorm"},
    Names{"feed_forward.w1", "mlp.gate_proj"},     Names{"feed_forward.w2", "mlp.down_proj"},
    Names{"feed_forward.w3", "mlp.up_proj"},
};

/// "layers.3.attention.wq" → "model.layers.3.self_attn.q_proj". Modules come from
/// recipe::parameters: one that the tables lack is a mistake in them, and the test of all names
/// finds it.
std::string hugging_face_module(std::string_view module) {
  for (const Names& names : kOutsideLayers)
    if (module == names.heddle) return std::string(names.hugging_face);
  if (const auto in = recipe::in_layers(module))
    for (const Names& names : kInLayer)
      if (in->rest == names.heddle)
        return fmt::format("model.layers.{}.{}", in->layer, names.hugging_face);
  return std::string(module);
}

}  // namespace

std::string hugging_face_name(const recipe::Parameter& parameter) {
  return hugging_face_module(parameter.module) + (parameter.is_bias ? ".bias" : ".weight");
}

}  // namespace heddle::holdings
