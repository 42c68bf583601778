// Stored numbers to fp32, and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/checkpoint/safetensors.h"

namespace heddle::checkpoint {

/// Whether `to_floats` reads a type: F32, F64, BF16 and F16.
bool is_floating_point(Dtype dtype);

/// Converts bytes of elements, which need not be aligned, into `out`. F64 is rounded, the others
/// exact.
void to_floats(Dtype dtype, std::span<const std::byte> bytes, float* out);

/// The other way into `bytes`, to F32 or, rounded to nearest even, BF16; finite numbers.
void from_floats(Dtype dtype, std::span<const float> numbers, std::vector<std::byte>& bytes);

}  // namespace heddle::checkpoint
