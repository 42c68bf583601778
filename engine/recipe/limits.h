// Bounds of sizes, far beyond any machine: products of them cannot overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::recipe {

inline constexpr int64_t kMaxWidth = int64_t{1} << 20;
inline constexpr int64_t kMaxLayers = 10'000;
inline constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMaxTokens = int64_t{1} << 30;
inline constexpr int64_t kMaxRanks = int64_t{1} << 20;

inline constexpr int64_t kMaxRestarts = 1000;
/// Seconds: the longest wait before a restart.
inline constexpr int64_t kMaxBackoff = 3600;

/// Limits of a recipe's text, and any other TOML.
inline constexpr size_t kMaxRecipeBytes = size_t{1} << 20;

/// a·b, or the largest number if that is more.
inline int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace heddle::recipe
