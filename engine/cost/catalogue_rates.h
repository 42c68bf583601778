// The rates of hardware of the catalogue, for runs that this machine cannot measure.
#pragma once

#include <map>
#include <string>

#include "engine/cost/collective_time.h"
#include "engine/cost/rates.h"
#include "engine/recipe/layout.h"

namespace heddle::cost {

/// By process group, the pipeline's pairs among them.
using Placements = std::map<std::string, Placement>;

/// Rates of a layout's groups, whose ranks fill nodes of so many devices in order. A group that is
/// placed in several ways counts as its placement on most nodes.
Placements placements(const recipe::Layout& layout, int64_t devices_per_node);

/// How the step is run.
struct Terms {
  Executor executor = Executor::heddle;
  Float8 float8 = Float8::none;
};

/// Rates for CostModel; links to the largest size that a step may move.
Rates catalogue_rates(const hardware::Entry& entry, const Placements& groups, const Terms& terms);

}  // namespace heddle::cost
