#include "engine/cost/choose_plan.h"

#include <algorithm>
#include <limits>

#include "engine/cost/auto_buckets.h"

namespace heddle::cost {
namespace {

using passes::BucketPlan;

// Planning takes 5 to 15 µs a node.
constexpr int64_t kNodesToPlan = 40'000;
constexpr int64_t kFewest = 2;
constexpr double kAsGood = 1.002;
constexpr double kAsSmall = 1.05;

passes::Plan planned(const graph::Graph& captured, const passes::PlanOptions& base,
                     const Candidate& candidate) {
  passes::PlanOptions options = base;
  options.buckets = candidate.buckets;
  options.overlap = candidate.overlap;
  return passes::plan(captured, options);
}

// Neighbouring blocks joined, `count` at a time; nodes between blocks stay by themselves.
BucketPlan joined(const BucketPlan& by_block, size_t count) {
  BucketPlan plan;
  size_t blocks = 0;
  for (const passes::Bucket& bucket : by_block) {
    const bool block = !passes::block_of(bucket.modules.front()).empty();
    if (block && blocks % count != 0) {
      auto& modules = plan.back().modules;
      modules.insert(modules.end(), bucket.modules.begin(), bucket.modules.end());
    } else {
      plan.push_back(bucket);
    }
    blocks = block ? blocks + 1 : 0;
  }
  passes::name_buckets(plan);
  return plan;
}

BucketPlan all_in_one(const graph::Graph& captured) {
  BucketPlan plan{{"", passes::gathered_modules(captured)}};
  passes::name_buckets(plan);
  return plan;
}

BucketPlan greedy(const graph::Graph& captured, const passes::PlanOptions& base,
                  const CostModel& cost, int64_t limit) {
  const auto gather = std::find_if(captured.nodes.begin(), captured.nodes.end(),
                                   [](const auto& node) { return graph::is_all_gather(node); });
  const Link& link = cost.link(graph::group_of(*gather));
  GreedyOptions options;
  options.largest_bytes = link.all_gather.alone.back().bytes;
  if (limit > 0)
    options.headroom =
        limit - rank_bytes(planned(captured, base, {"", passes::one_each(captured), {}}), cost);
  return greedy_buckets(module_costs(captured, cost, base.recompute.reshard),
                        {[&](int64_t bytes) { return at_bytes(link.all_gather.alone, bytes); },
                         [&](int64_t bytes) { return at_bytes(link.reduce_scatter.alone, bytes); }},
                        options);
}

bool same_buckets(const BucketPlan& a, const BucketPlan& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.modules == y.modules; });
}

Choice judged(const Candidate& candidate, passes::Plan plan, const CostModel& cost, int64_t limit) {
  Simulated expected = simulate(program_of(plan.graph, cost));
  const int64_t bytes = rank_bytes(plan, cost);
  return {candidate, limit == 0 || bytes <= limit, std::move(plan), std::move(expected), bytes};
}

}  // namespace

int64_t rank_bytes(const passes::Plan& plan, const CostModel& cost) {
  int64_t bytes = cost.process_bytes() + plan.memory.arena_bytes;
  for (const auto* bindings : {&plan.graph.states, &plan.graph.inputs})
    for (const graph::Binding& binding : *bindings)
      bytes += plan.graph.values[binding.value].bytes();
  return bytes;
}

std::vector<Candidate> open_candidates(const graph::Graph& captured,
                                       const passes::PlanOptions& base, const CostModel& cost,
                                       int64_t limit) {
  const BucketPlan by_block = passes::by_block(captured);
  if (by_block.empty()) return {{"nothing is gathered", {}, {}}};
  std::vector<std::pair<std::string, BucketPlan>> wrappings;
  auto add = [&](const char* name, BucketPlan buckets) {
    for (const auto& [known, other] : wrappings)
      if (same_buckets(other, buckets)) return;
    wrappings.emplace_back(name, std::move(buckets));
  };
  add("greedy buckets", greedy(captured, base, cost, limit));
  add("a bucket a block", by_block);
  add("a bucket for two blocks", joined(by_block, 2));
  add("a bucket for four blocks", joined(by_block, 4));
  add("a bucket each", passes::one_each(captured));
  add("one bucket", all_in_one(captured));

  std::vector<Candidate> all;
  for (const bool across : {false, true})
    for (const size_t gathers : {2, 4, 1, 8})
      for (const auto& [name, buckets] : wrappings) {
        if (gathers > buckets.size()) continue;  // no more than are there anyway
        all.push_back({fmt::format("{}, {} gather{} in flight{}", name, gathers,
                                   gathers == 1 ? "" : "s", across ? ", across phases" : ""),
                       buckets,
                       {.gathers_in_flight = static_cast<int>(gathers),
                        .scatters_in_flight = std::max(2, static_cast<int>(gathers)),
                        .across_phases = across}});
      }
  const auto nodes = static_cast<int64_t>(captured.nodes.size()) * captured.micro_batches;
  all.resize(std::min(all.size(), static_cast<size_t>(std::max(kNodesToPlan / nodes, kFewest))));
  return all;
}

std::vector<Candidate> lean_candidates(const BucketPlan& buckets) {
  return {{"one transfer in flight", buckets, {.gathers_in_flight = 1, .scatters_in_flight = 1}},
          {"no gather ahead", buckets, {.gathers_in_flight = 0, .scatters_in_flight = 1}}};
}

Candidate given(const passes::PlanOptions& options) {
  return {"as the recipe says", options.buckets, options.overlap};
}

Choice as_given(graph::Graph captured, const passes::PlanOptions& options, const CostModel& cost) {
  return judged(given(options), passes::plan(std::move(captured), options), cost, 0);
}

Choice choose_best(const graph::Graph& captured, const passes::PlanOptions& base,
                   const std::vector<Candidate>& candidates, const CostModel& cost, int64_t limit) {
  std::vector<Choice> fits;
  std::optional<Choice> least;  // of those that do not
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    Choice tried = judged(candidate, planned(captured, base, candidate), cost, limit);
    if (tried.fits) {
      best = std::min(best, tried.expected.step_seconds);
      fits.push_back(std::move(tried));
    } else if (!least || tried.bytes < least->bytes) {
      least = std::move(tried);
    }
  }
  if (fits.empty()) return std::move(*least);
  std::erase_if(fits,
                [&](const Choice& each) { return each.expected.step_seconds > best * kAsGood; });
  const int64_t fewest = std::ranges::min_element(fits, {}, &Choice::bytes)->bytes;
  std::erase_if(fits, [&](const Choice& each) {
    return static_cast<double>(each.bytes) > static_cast<double>(fewest) * kAsSmall;
  });
  const auto rank = [](const Choice& each) {
    return std::pair(graph::collectives_per_step(each.plan.graph),
                     -each.chosen.overlap.gathers_in_flight);
  };
  return std::move(*std::min_element(
      fits.begin(), fits.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); }));
}

}  // namespace heddle::cost
