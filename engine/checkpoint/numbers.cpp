#include "engine/checkpoint/numbers.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace heddle::checkpoint {
namespace {

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
float from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F;
  const uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {  // zero and the subnormals: fraction · 2^-24
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 0x1F ? 0xFF : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

template <typename Stored, typename Convert>
void convert_all(std::span<const std::byte> bytes, float* out, Convert convert) {
  const size_t count = bytes.size() / sizeof(Stored);
  for (size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(stored);
  }
}

}  // namespace

bool is_floating_point(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64 || dtype == Dtype::bf16 || dtype == Dtype::f16;
}

void to_floats(Dtype dtype, std::span<const std::byte> bytes, float* out) {
  switch (dtype) {
    case Dtype::f32:
      std::memcpy(out, bytes.data(), bytes.size());
      break;
    case Dtype::f64:
      convert_all<double>(bytes, out, [](double value) { return static_cast<float>(value); });
      break;
    case Dtype::bf16:
      convert_all<uint16_t>(bytes, out, from_bf16);
      break;
    case Dtype::f16:
      convert_all<uint16_t>(bytes, out, from_f16);
      break;
    default:
      break;  // is_floating_point says no
  }
}

void from_floats(Dtype dtype, std::span<const float> numbers, std::vector<std::byte>& bytes) {
  bytes.resize(numbers.size() * static_cast<size_t>(bytes_of(dtype)));
  if (dtype == Dtype::f32) {
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = std::bit_cast<uint32_t>(numbers[i]);
    // Half of what is cut off, and one less where that makes a tie even.
    const auto stored = static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    std::memcpy(bytes.data() + i * sizeof(stored), &stored, sizeof(stored));
  }
}

}  // namespace heddle::checkpoint
