// Bounds of sizes, far beyond any machine: products of them cannot overflow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::recipe {

inline constexpr int64_t kMaxWidth = int64_t{1} << 20;
inline constexpr int64_t kMaxLayers = 10'000;
inline constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMaxTokens = int64_t{1} << 30;
inline constexpr int64_t kMaxRanks = int64_t{1} << 20;

/// Limits of a recipe's text, and any other TOML.
inline constexpr size_t kMaxRecipeBytes = size_t{1} << 20;

}  // namespace heddle::recipe
