#include "engine/passes/budget.h"

namespace heddle::passes {

double share_for_budget(const graph::Graph& captured, const PlanOptions& options, double budget,
                        BytesByShare& known) {
  auto memory_with = [&](double share) {
    auto bytes = known.find(share);
    if (bytes == known.end()) {
      PlanOptions tried = options;
      tried.recompute.budget = share;
      bytes = known.emplace(share, plan(captured, tried).memory.live_bytes).first;
    }
    return static_cast<double>(bytes->second);
  };
  if (budget >= 1.0) return 1.0;
  const double least = memory_with(0.0), most = memory_with(1.0);
  const double limit = least + budget * (most - least);
  // The largest share wins even where a smaller one needs more: what is made again lives too.
  const int steps = captured.nodes.size() > 6000 ? 6 : 16;
  for (int i = steps - 1; i > 0; --i) {
    const double share = static_cast<double>(i) / steps;
    if (memory_with(share) <= limit) return share;
  }
  return 0.0;
}

}  // namespace heddle::passes
