// A run's measured times next to the predicted ones of its operators and collectives.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/cost/checks.h"
#include "engine/cost/cost_model.h"
#include "engine/telemetry/record.h"

namespace heddle::train {

/// Collects the profiled steps of one rank. One thread.
class Observed {
 public:
  /// `graph`: the planned one, by whose nodes spans are numbered; it outlives this. What earlier
  /// runs have refined of the rates is left out, or each run would refine what is refined already.
  Observed(const graph::Graph& graph, const cost::Rates& rates);

  /// Compute next to a transfer is slowed by it, and says nothing about its operator.
  void add(const std::vector<telemetry::Span>& step);

  /// The median over the spans of each kind of work, where a span counts as much as it was to take.
  /// Nothing of fewer than eight.
  cost::WorkRatios ratios() const;

 private:
  const graph::Graph& graph_;
  cost::CostModel cost_;
  bool on_gpu_;
  std::map<std::string, std::vector<std::pair<double, double>>> seen_;  // ratio, predicted seconds
};

}  // namespace heddle::train
