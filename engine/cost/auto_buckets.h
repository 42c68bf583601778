// Which parameters to gather together: the greedy rule of arXiv 2411.00284 on expected times.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "engine/cost/cost_model.h"
#include "engine/passes/bucket_plan.h"

namespace heddle::cost {

/// A module whose parameters are gathered, and the compute up to the next one.
struct ModuleCost {
  std::string module;
  int64_t gather_bytes = 0;     // its whole parameters as they are gathered
  int64_t scatter_bytes = 0;    // its whole gradients as they are scattered
  double forward_seconds = 0;   // compute from its first read to the next module's
  double backward_seconds = 0;  // of the same modules in backward
  bool gathered_again = false;  // for backward
};

/// The modules in the order in which forward reads them. `captured`: one micro-batch of forward
/// and backward, and the optimizer.
std::vector<ModuleCost> module_costs(const graph::Graph& captured, const CostModel& cost,
                                     bool gathered_again);

struct GreedyOptions {
  /// By how much a transfer may be longer than the compute that hides it.
  double relax = 0.0;
  /// Bytes there are for gathered parameters and gradients under way, beyond what each module by
  /// itself needs anyway.
  int64_t headroom = std::numeric_limits<int64_t>::max();
  /// No bucket is larger: what was measured.
  int64_t largest_bytes = std::numeric_limits<int64_t>::max();
};

/// Seconds of a transfer by its bytes.
struct Transfers {
  std::function<double(int64_t)> gather, scatter;
};

/// Walks the modules in order; each joins the open bucket unless that closes it: by *time*, where
/// the compute of the bucket before hides no more (its forward compute the gather; its backward
/// compute the scatter and the gather for backward of the bucket before it); by *memory*, where two
/// such buckets' gathers and two scatters exceed the headroom; by *size*. With no compute before
/// it, the first module is a bucket of its own. Linear.
passes::BucketPlan greedy_buckets(const std::vector<ModuleCost>& modules,
                                  const Transfers& transfers, const GreedyOptions& options);

}  // namespace heddle::cost
