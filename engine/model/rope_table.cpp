#include "engine/model/rope_table.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <numbers>

namespace heddle::model {
namespace {

// Llama 3.1: long wavelengths are stretched, short ones kept, those between blended.
double scaled(double frequency, const recipe::RopeScaling& scaling) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(scaling.original_max_position);
  if (wavelength < original / scaling.high_freq_factor) return frequency;
  if (wavelength > original / scaling.low_freq_factor) return frequency / scaling.factor;
  const double smooth = (original / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

}  // namespace

at::Tensor make_rope_table(const recipe::Model& model, int64_t positions) {
  const int64_t pairs = model.head_dim() / 2;
  at::Tensor table = at::empty({positions, pairs, 2}, at::kFloat);
  float* out = table.mutable_data_ptr<float>();
  for (int64_t i = 0; i < pairs; ++i) {
    double frequency = std::pow(
        model.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(model.head_dim()));
    if (model.rope_scaling) frequency = scaled(frequency, *model.rope_scaling);
    for (int64_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      out[(p * pairs + i) * 2] = static_cast<float>(std::cos(angle));
      out[(p * pairs + i) * 2 + 1] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

}  // namespace heddle::model
