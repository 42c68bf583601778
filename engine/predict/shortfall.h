// The shortfall of a plan that does not fit into memory, and ways to close it.
#pragma once

#include <functional>
#include <optional>

#include "engine/predict/planning.h"

namespace heddle::predict {

/// How variants of a question are read and planned; nothing: it has faults, or was given up.
struct Variants {
  std::function<std::optional<recipe::Recipe>(const plan::PlanQuestion&)> read;
  std::function<std::optional<plan::Document>(const plan::PlanQuestion&)> plan;
};

/// For a plan that does not fit: tries recomputation, smaller batches, other layouts of the same
/// ranks, and more ranks where the hardware is a cluster's; which of many are worth planning is
/// judged by formula (holdings/needs.h), and a few are planned. `parsed`: what `question` asks for,
/// with its vocabulary; `node_devices`: of a cluster, else 0.
plan::Shortfall shortfall_of(const plan::Document& plan, const plan::PlanQuestion& question,
                             const recipe::Parsed& parsed, int64_t node_devices,
                             const Variants& variants);

}  // namespace heddle::predict
