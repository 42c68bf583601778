// The fields of the schema that are like no other.
#pragma once

#include "engine/recipe/limits.h"
#include "engine/recipe/schema.h"
#include "engine/recipe/values.h"

namespace heddle::recipe {

const Names<RecomputeMode>& recompute_modes();
const Names<RopeType>& rope_types();

Field preset_field();
Field rope_scaling_field();
/// The degree that takes the remaining ranks.
Field rest_field(const Axis& axis);
Field stage_layers_field();
Field buckets_field();
Field reshard_field();
Field memory_limit_field();
Field override_field();

}  // namespace heddle::recipe
