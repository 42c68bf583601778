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

bool comes_before(std::string_view a, std::string_view b) {
  const auto position = [](std::string_view pass) {
    const auto found = std::find(kPasses.begin(), kPasses.end(), pass);
    return found == kPasses.end() ? -1 : found - kPasses.begin();
  };
  return position(a) < position(b);
}

Plan plan(graph::Graph captured, PlanOptions options, const std::string& after) {
  Plan plan{std::move(captured), {}, options.buckets};
  // Whether a pass is to be run, and whether it is the last one.
  const auto runs = [&](const char* pass) { return comes_before(options.done, pass); };
  const auto ends = [&](const char* pass) { return after == pass; };
  if (options.gather_once) options.recompute.reshard = false;
  if (runs("recompute")) {
    if (options.recompute.reshard && !options.stages)
      options.recompute.stay = last_bucket(plan.graph, options.buckets);
    recompute(plan.graph, options.recompute);
  }
  if (ends("recompute")) return plan;
  UnrollOptions order{{}, options.gather_once};
  if (options.stages) {
    if (runs("stage")) keep_stages(plan.graph, *options.stages);
    order.actions = actions_of(options.stages->pipeline, options.stages->rank);
    if (!has_backward(plan.graph))
      std::erase_if(order.actions, [](const Action& a) { return a.part != Part::forward; });
  }
  if (ends("stage")) return plan;
  if (runs("unroll")) unroll(plan.graph, order);
  if (ends("unroll")) return plan;
  if (runs("bucket")) bucket(plan.graph, options.buckets);
  if (ends("bucket")) return plan;
  if (runs("overlap")) overlap(plan.graph, options.overlap);
  if (ends("overlap")) return plan;
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
