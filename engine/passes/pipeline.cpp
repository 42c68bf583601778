#include "engine/passes/pipeline.h"

#include <algorithm>

#include "engine/graph/text.h"
#include "engine/passes/bucket.h"
#include "engine/passes/unroll.h"

namespace heddle::passes {
namespace {

// The modules of the bucket that forward gathers last: backward begins with it.
std::unordered_set<std::string> last_bucket(const graph::Graph& graph, const BucketPlan& plan) {
  BucketIndex index(plan);
  std::unordered_set<std::string> modules;
  const std::vector<std::string> gathered = gathered_modules(graph);
  if (gathered.empty()) return modules;
  const int last = index.find(gathered.back());
  for (const std::string& module : gathered)
    if (module == gathered.back() || (last >= 0 && index.find(module) == last))
      modules.insert(module);
  return modules;
}

bool has_backward(const graph::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const graph::Node& node) { return node.phase == graph::Phase::backward; });
}

}  // namespace

Plan plan(graph::Graph captured, PlanOptions options, const std::string& after) {
  Plan plan{std::move(captured), {}};
  if (options.gather_once) options.recompute.reshard = false;
  if (options.recompute.reshard && !options.stages)
    options.recompute.stay = last_bucket(plan.graph, options.buckets);
  recompute(plan.graph, options.recompute);
  if (after == "recompute") return plan;
  UnrollOptions order{{}, options.gather_once};
  if (options.stages) {
    keep_stages(plan.graph, *options.stages);
    order.actions = actions_of(options.stages->pipeline, options.stages->rank);
    if (!has_backward(plan.graph))
      std::erase_if(order.actions, [](const Action& a) { return a.part != Part::forward; });
  }
  if (after == "stage") return plan;
  unroll(plan.graph, order);
  if (after == "unroll") return plan;
  bucket(plan.graph, options.buckets);
  if (after == "bucket") return plan;
  overlap(plan.graph, options.overlap);
  if (after == "overlap") return plan;
  plan.memory = plan_memory(plan.graph, options.scratch_bytes);
  return plan;
}

std::string to_text(const Plan& plan) {
  std::string text = graph::to_text(plan.graph);
  const MemoryPlan& memory = plan.memory;
  if (memory.root.empty()) return text;
  text += fmt::format("# arena: {} bytes, at most {} of them alive at one time\n",
                      memory.arena_bytes, memory.live_bytes);
  for (size_t i = 0; i < memory.place.size(); ++i)
    if (memory.root[i] == static_cast<graph::ValueId>(i) && memory.place[i] >= 0)
      text += fmt::format("# %{} at {}: {} bytes\n", i, memory.place[i], memory.bytes[i]);
  return text;
}

}  // namespace heddle::passes
