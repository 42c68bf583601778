// The fields of the schema that are like no other.
#pragma once

#include "engine/recipe/schema.h"
#include "engine/recipe/values.h"

namespace heddle::recipe {

/// Bounds far beyond any machine, so that products of sizes cannot overflow.
inline constexpr int64_t kMostWidth = int64_t{1} << 20;
inline constexpr int64_t kMostLayers = 10'000;
inline constexpr int64_t kMostVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMostTokens = int64_t{1} << 30;
inline constexpr int64_t kMostRanks = int64_t{1} << 20;

const Names<RecomputeMode>& recompute_modes();

Field preset_field();
Field rope_scaling_field();
Field betas_field();
Field dp_shard_field();
Field stage_layers_field();
Field buckets_field();
Field reshard_field();
Field memory_limit_field();
Field override_field();

}  // namespace heddle::recipe
