#include "engine/model/rope_table.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace heddle::model {
namespace {

// Llama 3.1: long wavelengths are stretched, short ones kept, those between blended.
double by_wavelength(double frequency, const recipe::RopeScaling& scaling) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(scaling.original_max_position);
  if (wavelength < original / scaling.high_freq_factor) return frequency;
  if (wavelength > original / scaling.low_freq_factor) return frequency / scaling.factor;
  const double smooth = (original / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

// YaRN (arXiv 2309.00071, section 3.2): which pair turns `beta` times over the original length.
double pair_of_turns(double beta, const recipe::Model& model) {
  const auto original = static_cast<double>(model.rope_scaling->original_max_position);
  return static_cast<double>(model.head_size()) *
         std::log(original / (2.0 * std::numbers::pi * beta)) / (2.0 * std::log(model.rope_theta));
}

// Pairs before `first` keep their frequency, those behind `last` are stretched, as the models that
// were published with it count them.
double by_turns(double frequency, int64_t pair, const recipe::Model& model) {
  const recipe::RopeScaling& scaling = *model.rope_scaling;
  double first = pair_of_turns(scaling.beta_fast, model);
  double last = pair_of_turns(scaling.beta_slow, model);
  if (scaling.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(model.head_size() - 1));
  if (first == last) last += 1e-3;
  const double stretched =
      std::clamp((static_cast<double>(pair) - first) / (last - first), 0.0, 1.0);
  return frequency * (1.0 - stretched) + frequency / scaling.factor * stretched;
}

double scaled(double frequency, int64_t pair, const recipe::Model& model) {
  if (!model.rope_scaling) return frequency;
  switch (model.rope_scaling->type) {
    case recipe::RopeType::llama3:
      return by_wavelength(frequency, *model.rope_scaling);
    case recipe::RopeType::yarn:
      return by_turns(frequency, pair, model);
    case recipe::RopeType::linear:
      break;
  }
  return frequency / model.rope_scaling->factor;
}

// The factor of cos and sin, and so of q and k, that keeps attention sharp over longer sequences.
double length_of(const std::optional<recipe::RopeScaling>& scaling) {
  if (!scaling || scaling->type != recipe::RopeType::yarn) return 1.0;
  if (scaling->attention_factor > 0) return scaling->attention_factor;
  return scaling->factor > 1.0 ? 0.1 * std::log(scaling->factor) + 1.0 : 1.0;
}

}  // namespace

at::Tensor make_rope_table(const recipe::Model& model, int64_t positions) {
  const int64_t pairs = model.head_size() / 2;
  at::Tensor table = at::empty({positions, pairs, 2}, at::kFloat);
  const double length = length_of(model.rope_scaling);
  float* out = table.mutable_data_ptr<float>();
  for (int64_t i = 0; i < pairs; ++i) {
    double frequency = std::pow(
        model.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(model.head_size()));
    frequency = scaled(frequency, i, model);
    for (int64_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      out[(p * pairs + i) * 2] = static_cast<float>(length * std::cos(angle));
      out[(p * pairs + i) * 2 + 1] = static_cast<float>(length * std::sin(angle));
    }
  }
  return table;
}

}  // namespace heddle::model
