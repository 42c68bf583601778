// The shortfall of a plan that does not fit into memory, and ways to close it.
#pragma once

#include <functional>
#include <optional>

#include "engine/predict/planning.h"

namespace heddle::predict {

/// How variants of a request are read and planned; nothing: it has faults, or was given up.
struct Variants {
  std::function<std::optional<recipe::Recipe>(const PlanRequest&)> read;
  std::function<std::optional<plan::Document>(const PlanRequest&)> plan;
};

/// For a plan that does not fit: tries recomputation, smaller batches, other layouts of the same
/// ranks, and more ranks where the hardware is a cluster's; which of many are worth planning is
/// judged by formula (recipe/needs.h), and a few are planned. `parsed`: what `request` asks for,
/// with its vocabulary; `node_devices`: of a cluster, else 0.
plan::Shortfall shortfall_of(const plan::Document& plan, const PlanRequest& request,
                             const recipe::Parsed& parsed, int64_t node_devices,
                             const Variants& variants);

}  // namespace heddle::predict
