#include "engine/cost/auto_buckets.h"

#include <unordered_map>

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;
using graph::Phase;

// A bucket's totals.
struct Open {
  int64_t gather_bytes = 0, scatter_bytes = 0, gathered_again_bytes = 0;
  double forward_seconds = 0, backward_seconds = 0;

  Open with(const ModuleCost& module) const {
    Open sum = *this;
    sum.gather_bytes += module.gather_bytes;
    sum.scatter_bytes += module.scatter_bytes;
    if (module.gathered_again) sum.gathered_again_bytes += module.gather_bytes;
    sum.forward_seconds += module.forward_seconds;
    sum.backward_seconds += module.backward_seconds;
    return sum;
  }
};

class Greedy {
 public:
  Greedy(const Transfers& transfers, const GreedyOptions& options)
      : transfers_(transfers), options_(options) {}

  passes::BucketPlan run(const std::vector<ModuleCost>& modules) {
    for (const ModuleCost& module : modules) {
      if (plan_.empty() || closes(module)) {
        before_last_ = last_;
        last_ = open_;
        open_ = {};
        plan_.emplace_back();
      }
      open_ = open_.with(module);
      plan_.back().modules.push_back(module.module);
    }
    passes::name_buckets(plan_);
    return std::move(plan_);
  }

 private:
  bool closes(const ModuleCost& module) const {
    const Open joined = open_.with(module);
    return plan_.size() == 1 || too_long(joined) || too_much(joined) ||
           joined.gather_bytes > options_.largest_bytes;
  }

  bool too_long(const Open& joined) const {
    const double hides = 1.0 + options_.relax;
    const double again = before_last_.gathered_again_bytes > 0
                             ? transfers_.gather(before_last_.gathered_again_bytes)
                             : 0.0;
    return last_.forward_seconds * hides < transfers_.gather(joined.gather_bytes) ||
           last_.backward_seconds * hides < transfers_.scatter(joined.scatter_bytes) + again;
  }

  // One bucket computes while the next is gathered, one's gradients are made while the last one's
  // leave.
  bool too_much(const Open& joined) const {
    return 2 * joined.gather_bytes + 2 * joined.scatter_bytes > options_.headroom;
  }

  const Transfers& transfers_;
  const GreedyOptions& options_;
  passes::BucketPlan plan_;
  Open before_last_, last_, open_;
};

}  // namespace

std::vector<ModuleCost> module_costs(const Graph& captured, const CostModel& cost,
                                     bool gathered_again) {
  std::vector<ModuleCost> modules;
  std::unordered_map<std::string, size_t> index;
  size_t current = 0;
  for (const Node& node : captured.nodes) {
    if (graph::is_all_gather(node) && node.phase == Phase::forward) {
      const auto [entry, fresh] = index.emplace(node.module, modules.size());
      if (fresh) modules.push_back({.module = node.module, .gathered_again = gathered_again});
      current = entry->second;
      modules[current].gather_bytes += whole_bytes(captured, node);
    } else if (graph::is_collective(node) && !graph::is_exchange(node) && !node.module.empty()) {
      if (const auto found = index.find(node.module); found != index.end())
        modules[found->second].scatter_bytes += whole_bytes(captured, node);
    } else if (!modules.empty() && node.phase != Phase::optimizer) {
      // Backward nodes carry the module of the forward operator that they belong to.
      const auto own = index.find(node.module);
      if (own != index.end()) current = own->second;
      (node.phase == Phase::forward ? modules[current].forward_seconds
                                    : modules[current].backward_seconds) +=
          cost.seconds(captured, node);
    }
  }
  if (!modules.empty()) modules.back().gathered_again = false;  // it stays
  return modules;
}

passes::BucketPlan greedy_buckets(const std::vector<ModuleCost>& modules,
                                  const Transfers& transfers, const GreedyOptions& options) {
  return Greedy(transfers, options).run(modules);
}

}  // namespace heddle::cost
