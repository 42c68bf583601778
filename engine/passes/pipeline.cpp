#include "engine/passes/pipeline.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/clock.h"
#include "engine/graph/text.h"
#include "engine/passes/bucket.h"
#include "engine/passes/cast_lists.h"
#include "engine/passes/fuse.h"
#include "engine/passes/join.h"
#include "engine/passes/unroll.h"
#include "engine/passes/verify.h"

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

void run_recompute(Plan& plan, const PlanOptions& options) {
  RecomputeOptions what = options.recompute;
  if (options.gather_once) what.reshard = false;
  if (what.reshard && !options.stages) what.stay = last_bucket(plan.graph, options.buckets);
  recompute(plan.graph, what);
}

void run_stage(Plan& plan, const PlanOptions& options) {
  if (options.stages) keep_stages(plan.graph, *options.stages);
}

void run_fuse(Plan& plan, const PlanOptions&) { fuse(plan.graph, false); }

void run_unroll(Plan& plan, const PlanOptions& options) {
  UnrollOptions order;
  order.gather_once = options.gather_once;
  if (options.stages) {
    order.actions = actions_of(options.stages->pipeline, options.stages->rank);
    if (has_backward(plan.graph))
      order.received = received_before(options.stages->pipeline, options.stages->rank);
    else
      std::erase_if(order.actions, [](const Action& a) { return a.part != Part::forward; });
  }
  unroll(plan.graph, order);
  fuse(plan.graph, true);  // products with the sums that they are added to
}

void run_join(Plan& plan, const PlanOptions& options) { join(plan.graph, options.alignment); }

void run_bucket(Plan& plan, const PlanOptions& options) { bucket(plan.graph, options.buckets); }

void run_casts(Plan& plan, const PlanOptions&) { cast_lists(plan.graph); }

void run_overlap(Plan& plan, const PlanOptions& options) { overlap(plan.graph, options.overlap); }

void run_memory(Plan& plan, const PlanOptions& options) {
  plan.memory = plan_memory(plan.graph, options.scratch_bytes, options.alignment);
}

// In the order of kPassNames.
constexpr std::array kRuns = {&run_recompute, &run_stage, &run_fuse,    &run_unroll, &run_join,
                              &run_bucket,    &run_casts, &run_overlap, &run_memory};
static_assert(kRuns.size() == kPassNames.size());

constexpr std::array kPasses = [] {
  std::array<Pass, kPassNames.size()> passes{};
  for (size_t i = 0; i < passes.size(); ++i) passes[i] = {kPassNames[i], kRuns[i]};
  return passes;
}();

}  // namespace

bool verifies() {
#ifdef NDEBUG
  static const bool asked = std::getenv("HEDDLE_VERIFY") != nullptr;
  return asked;
#else
  return true;
#endif
}

std::span<const Pass> all_passes() { return kPasses; }

size_t position_of(std::string_view pass) {
  if (pass.empty() || pass == "capture") return 0;
  size_t position = 1;
  for (const Pass& each : kPasses) {
    if (pass == each.name) break;
    ++position;
  }
  return position;
}

Plan plan(graph::Graph captured, const PlanOptions& options, const std::string& after) {
  Plan plan{.graph = std::move(captured), .buckets = options.buckets};
  for (const Pass& pass : kPasses) {
    const bool done = position_of(options.done) >= position_of(pass.name);
    if (!done || &pass == &kPasses.back()) {
      const auto begin = Clock::now();
      pass.run(plan, options);
      plan.seconds.emplace_back(pass.name, seconds_since(begin));
      if (verifies()) {
        const auto kept = verify(plan.graph, plan.memory);
        TORCH_CHECK(kept, "after the pass ", pass.name, " the graph breaks rule ",
                    kept ? "" : kept.error().message);
      }
    }
    if (after == pass.name) break;
  }
  return plan;
}

std::string to_text(const Plan& plan) {
  std::string text = graph::to_text(plan.graph);
  const MemoryPlan& memory = plan.memory;
  if (memory.root.empty()) return text;
  text += fmt::format("# arena: {} bytes, at most {} of them alive at one time\n",
                      memory.arena_bytes, memory.live_bytes);
  for (size_t i = 0; i < memory.place.size(); ++i)
    if (memory.place[i] >= 0) {
      text += fmt::format("# %{} at {}: {} bytes", i, memory.place[i], memory.bytes[i]);
      const bool is_part = memory.root[i] != static_cast<graph::ValueId>(i);
      text += is_part ? fmt::format(", part of %{}\n", memory.root[i]) : "\n";
    }
  return text;
}

}  // namespace heddle::passes
