// Numbers of 8 bits (arXiv 2209.05433), and the scale with which fp32 numbers fit them: what CPU
// and GPU kernels share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/kernels/list_blocks.h"

namespace heddle::kernels {

inline uint32_t bits_of(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Bits of the fraction, what is added to exponents, the largest number.
template <int Fraction, int Bias, int Largest>
struct Float8Format {
  static constexpr float kLargest = Largest;

  /// The number nearest to x, ties to even, as its bits; beyond the largest that, NaN for NaN.
  /// Written so that loops around it vectorise.
  static uint8_t encoded(float x) {
    constexpr int kDropped = 23 - Fraction;  // bits of an fp32 fraction
    constexpr uint32_t kHalf = (1U << (kDropped - 1)) - 1;
    constexpr uint32_t kExponent = static_cast<uint32_t>(127 - Bias) << Fraction;
    constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(128 - Bias) << 23;
    // The last bit of its fraction is worth the smallest number there is.
    constexpr uint32_t kRound = static_cast<uint32_t>(128 - Bias + kDropped) << 23;
    const uint32_t bits = bits_of(std::min(std::max(x, -kLargest), kLargest));
    const uint32_t size = bits & 0x7FFFFFFF;
    const uint32_t normal = ((size + kHalf + ((size >> kDropped) & 1)) >> kDropped) - kExponent;
    const uint32_t small = bits_of(float_of(size) + float_of(kRound)) - kRound;
    const uint32_t number = size > 0x7F800000 ? 0x7F : size < kSmallestNormal ? small : normal;
    return static_cast<uint8_t>(number | (bits >> 24 & 0x80));
  }
};
using E4m3 = Float8Format<3, 7, 448>;
using E5m2 = Float8Format<2, 15, 57344>;

/// The factor that turns numbers up to `most` into numbers up to `largest`; rounded down to a power
/// of two or not. Where `most` is infinite or NaN it is 0 or NaN, and makes NaN of products.
HEDDLE_ON_DEVICE inline float float8_scale(float most, float largest, bool power_of_two) {
  constexpr float kMin = 1e-12F;
  const float scale = most < kMin ? static_cast<float>(largest / 1e-12) : largest / most;
  if (!power_of_two || scale != scale) return scale;
  uint32_t bits = 0;
  memcpy(&bits, &scale, sizeof bits);
  bits &= 0x7F800000;
  float rounded = 0;
  memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

}  // namespace heddle::kernels
