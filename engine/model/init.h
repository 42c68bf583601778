// Starting weights, the same under any number of ranks.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/recipe/recipe.h"

namespace heddle::model {

/// How a parameter starts (facts: Llama 3's init as in TorchTitan).
struct Init {
  enum class Kind { zeros, ones, normal, truncated_normal } kind = Kind::ones;
  double sigma = 1.0;
  double cut = 0.0;  // truncated_normal: |x| ≤ cut
};

/// By the parameter's name, as in "layers.3.attention.wo.weight".
Init init_of(const recipe::Model& model, const std::string& name);

/// Writes elements [begin, begin + count) of a parameter, row-major. Each element depends on (seed,
/// name, its index) alone, through the counter-based generator Philox4x32-10 (Salmon et al., SC
/// 2011).
void fill(const Init& init, int64_t seed, const std::string& name, int64_t begin, int64_t count,
          float* out);

}  // namespace heddle::model
