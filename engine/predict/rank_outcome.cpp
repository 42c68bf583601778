#include "engine/predict/rank_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "engine/cost/exposed.h"
#include "engine/predict/plan_hash.h"

namespace heddle::predict {
namespace {

using graph::Name;
using graph::Node;

// Shares of a step: where compute waits for less than that in all, no transfer is worth naming. And
// of the whole wait: a step of many layers waits a little for each.
constexpr double kMinExposed = 1e-3;

std::string name_of(const Node& node) {
  return node.op.text().substr(node.op.text().find('.') + 1);
}

/// "all_gather layers.3 (backward)".
std::string node_text(const Node& node) {
  return fmt::format("{}{}{} ({})", name_of(node), node.module.empty() ? "" : " ",
                     node.module.text(), graph::name_of(node.phase));
}

/// At the begin of each node that computes; of neighbours that are too many the one that needs
/// most.
std::vector<plan::MemoryMoment> curve_of(const SimulatedRank& rank) {
  std::vector<plan::MemoryMoment> curve;
  const size_t nodes = rank.memory.at_node.size();
  const size_t every = nodes / plan::kMaxMoments + 1;
  double now = 0;
  for (size_t first = 0; first < nodes; first += every) {
    size_t most = first;
    const size_t end = std::min(first + every, nodes);
    for (size_t i = first; i < end; ++i)
      if (rank.memory.at_node[i].total() > rank.memory.at_node[most].total()) most = i;
    curve.push_back({microseconds(now), rank.memory.at_node[most]});
    for (size_t i = first; i < end; ++i) now = std::max(now, rank.simulated.compute[i].end);
  }
  return curve;
}

/// Bytes that a rank moves for a collective: its part of a ring.
int64_t moved_bytes(const graph::Graph& graph, const Node& collective) {
  const int64_t whole = cost::whole_bytes(graph, collective);
  if (graph::is_send(collective) || graph::is_receive(collective)) return whole;
  const int64_t ranks = graph::ranks_of(graph, collective);
  const int64_t once = whole / ranks * (ranks - 1);
  return graph::gathers(collective) || graph::scatters(collective) || graph::is_exchange(collective)
             ? once
             : 2 * once;
}

std::vector<plan::Transfer> transfers_of(const graph::Graph& graph) {
  std::vector<int32_t> transfer_of(graph.values.size(), -1);  // by a collective's first result
  std::vector<plan::Transfer> transfers;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const auto number = static_cast<int32_t>(i);
    if (graph::is_collective(node)) {
      if (!node.outputs.empty())
        transfer_of[node.outputs.front()] = static_cast<int32_t>(transfers.size());
      transfers.push_back({number, -1, moved_bytes(graph, node), graph::group_of(node)});
    } else if (graph::is_wait(node)) {
      const int32_t waited = transfer_of[graph::list_of(node).front().value];
      if (waited >= 0) transfers[static_cast<size_t>(waited)].wait = number;
    }
  }
  return transfers;
}

plan::RankFigures figures_of(const SimulatedRank& rank) {
  const cost::Simulated& step = rank.simulated;
  return {.rank = rank.rank,
          .stage = rank.stage,
          .ranks = 1,
          .step_seconds = step.step_seconds,
          .compute_seconds = step.compute_seconds,
          .exposed_seconds = step.exposed_seconds,
          .bubble_seconds = step.bubble_seconds,
          .idle_seconds = std::max(0.0, step.step_seconds - step.compute_seconds -
                                            step.exposed_seconds - step.bubble_seconds),
          .peak_bytes = rank.memory.peak_bytes,
          .memory = rank.memory.peak};
}

/// Buckets that the rank gathers or reduces anything of, each with all its transfers of a step.
std::vector<plan::BucketFigures> buckets_of(const SimulatedRank& rank, const cost::CostModel& cost,
                                            const Times& times) {
  const graph::Graph& graph = rank.plan.graph;
  std::unordered_map<std::string, plan::BucketFigures> by_name;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!graph::is_collective(node) || node.module.empty()) continue;
    plan::BucketFigures& figures = by_name[node.module.text()];
    figures.exposed_seconds +=
        rank.simulated.transfers[i].exposed * static_cast<double>(times(node));
    const bool gathers = graph::is_all_gather(node);
    double& seconds = gathers ? figures.gather_seconds : figures.scatter_seconds;
    seconds = std::max(seconds, cost.transfer(graph, node).alone);
    if (gathers)
      figures.gather_bytes = std::max(figures.gather_bytes, cost::whole_bytes(graph, node));
  }
  std::vector<plan::BucketFigures> buckets;
  for (const passes::Bucket& bucket : rank.plan.buckets) {
    const auto found = by_name.find(bucket.name);
    if (found == by_name.end()) continue;
    found->second.name = bucket.name;
    found->second.modules = bucket.modules;
    found->second.stage = rank.stage;
    buckets.push_back(std::move(found->second));
  }
  return buckets;
}

/// A wait that every micro-batch has appears once, with the reason of the longest one.
std::vector<cost::ExposedTransfer> of_all_micro_batches(const SimulatedRank& rank,
                                                        const Times& times) {
  std::vector<cost::ExposedTransfer> transfers;
  std::map<std::tuple<const std::string*, Name, graph::Phase>, size_t> known;
  for (cost::ExposedTransfer each : cost::exposed_transfers(rank.plan.graph, rank.simulated)) {
    const Node& node = rank.plan.graph.nodes[each.node];
    each.seconds *= static_cast<double>(times(node));
    const auto [place, is_new] =
        known.emplace(std::tuple(&node.op.text(), node.module, node.phase), transfers.size());
    if (is_new)
      transfers.push_back(each);
    else
      transfers[place->second].seconds += each.seconds;
  }
  std::ranges::stable_sort(transfers, std::ranges::greater{}, &cost::ExposedTransfer::seconds);
  return transfers;
}

std::vector<plan::Exposed> exposed_of(const SimulatedRank& rank,
                                      const std::vector<plan::BucketFigures>& buckets,
                                      const Times& times) {
  std::vector<plan::Exposed> exposed;
  if (rank.simulated.exposed_seconds < kMinExposed * rank.simulated.step_seconds) return exposed;
  const auto transfers = of_all_micro_batches(rank, times);
  double all = 0;
  for (const cost::ExposedTransfer& each : transfers) all += each.seconds;
  for (const cost::ExposedTransfer& each : transfers) {
    if (each.seconds < kMinExposed * all || exposed.size() == kMaxExposed) break;
    const Node& node = rank.plan.graph.nodes[each.node];
    const auto bucket = std::ranges::find(buckets, node.module.text(), &plan::BucketFigures::name);
    exposed.push_back({node_text(node), rank.rank,
                       bucket == buckets.end() ? -1 : bucket - buckets.begin(), each.seconds,
                       cost::in_words(each.why, rank.simulated.transfers[each.node])});
  }
  return exposed;
}

}  // namespace

std::vector<telemetry::Span> spans_of(const SimulatedRank& rank) {
  std::vector<telemetry::Span> spans;
  const auto add = [&](size_t i, const cost::Interval& interval, uint8_t stream) {
    const int64_t begin = microseconds(interval.begin);
    const int64_t length = microseconds(interval.end) - begin;
    if (length <= 0) return;
    const Node& node = rank.plan.graph.nodes[i];
    spans.push_back({name_of(node), node.module.text(), begin, length, stream,
                     static_cast<uint8_t>(node.phase), static_cast<int32_t>(i)});
  };
  for (size_t i = 0; i < rank.plan.graph.nodes.size(); ++i) {
    const Node& node = rank.plan.graph.nodes[i];
    if (graph::is_collective(node)) {
      add(i, rank.simulated.transfers[i].moving, telemetry::kTransfer);
      add(i, rank.simulated.transfers[i].bubble, telemetry::kBubble);
    } else {
      add(i, rank.simulated.compute[i], telemetry::kCompute);
    }
  }
  for (const cost::Carried& carried : rank.simulated.carried)
    add(carried.node, carried.moving, telemetry::kTransfer);
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  return spans;
}

RankOutcome outcome_of(SimulatedRank& rank, const cost::CostModel& cost, bool with_timeline,
                       const Times& times) {
  graph::Graph& graph = rank.plan.graph;
  RankOutcome outcome;
  outcome.figures = figures_of(rank);
  outcome.buckets = buckets_of(rank, cost, times);
  outcome.exposed = exposed_of(rank, outcome.buckets, times);
  for (const Node& node : graph.nodes)
    if (graph::is_collective(node)) {
      outcome.bytes_by_group[graph::group_of(node)] += moved_bytes(graph, node) * times(node);
      outcome.collectives += times(node);
    }
  outcome.choice = graph.notes["plan"];
  outcome.plan_hash = plan_hash(plan_text(graph));
  if (with_timeline)
    outcome.timeline = {rank.rank, spans_of(rank), curve_of(rank), transfers_of(graph)};
  return outcome;
}

}  // namespace heddle::predict
