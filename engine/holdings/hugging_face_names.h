// Hugging Face's names of parameters. Source: transformers' modeling_llama.
#pragma once

#include <string>

#include "engine/recipe/modules.h"

namespace heddle::holdings {

/// "layers.3.attention.wq.weight" → "model.layers.3.self_attn.q_proj.weight".
std::string hugging_face_name(const recipe::Parameter& parameter);

}  // namespace heddle::holdings
