#include "engine/passes/order.h"

#include <queue>
#include <utility>
#include <variant>

#include "engine/passes/graph_words.h"
#include "engine/passes/lists.h"

namespace heddle::passes {

namespace {

// Every use of a value. A collective reads until it has been waited for: its wait uses what it
// uses.
template <typename Visit>
void for_each_use(const Graph& graph, const std::vector<int32_t>& made_by, Visit&& visit) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto visit_uses_of = [&](const graph::Node& node) {
      graph::for_each_use(node, [&](const Use& use) { visit(static_cast<int32_t>(i), use); });
    };
    visit_uses_of(graph.nodes[i]);
    if (!graph::is_wait(graph.nodes[i])) continue;
    const int32_t start = made_by[graph::list_of(graph.nodes[i]).front().value];
    if (start >= 0) visit_uses_of(graph.nodes[start]);
  }
}

// For each value what it is a view of: itself, where it is none.
std::vector<graph::ValueId> viewed(const Graph& graph) {
  std::vector<graph::ValueId> roots(graph.values.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<graph::ValueId>(i);
  for (const graph::Node& node : graph.nodes) {
    if (node.op->role != graph::Role::view) continue;
    const auto* base = std::get_if<Use>(&node.args.front());
    if (!base || base->value == graph::kNoValue) continue;
    for (graph::ValueId output : node.outputs)
      if (output != graph::kNoValue) roots[output] = roots[base->value];
  }
  return roots;
}

}  // namespace

Dependencies dependencies(const Graph& graph, const std::vector<int32_t>& made_by) {
  const std::vector<graph::ValueId> roots = viewed(graph);
  std::vector<bool> written(graph.values.size(), false);
  for_each_use(graph, made_by, [&](int32_t, const Use& use) {
    if (use.written != graph::kNoValue) written[roots[use.value]] = true;
  });
  std::vector<std::pair<graph::ValueId, int32_t>> reads;  // of what is written to: value, node
  for_each_use(graph, made_by, [&](int32_t node, const Use& use) {
    if (written[roots[use.value]]) reads.emplace_back(roots[use.value], node);
  });
  const Lists readers(graph.values.size(), [&](const auto& add) {
    for (const auto& [value, node] : reads) add(value, node);
  });
  std::vector<bool> next_step(graph.nodes.size());
  for (size_t i = 0; i < next_step.size(); ++i) next_step[i] = graph.nodes[i].next_step;
  Dependencies before;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto self = static_cast<int32_t>(i);
    graph::for_each_use(graph.nodes[i], [&](const Use& use) {
      const int32_t maker = made_by[use.value];
      const bool there = maker < 0 || (next_step[maker] && !next_step[i]);
      if (!there && maker != self) before.add(maker);
      if (use.written == graph::kNoValue) return;
      for (int32_t reader : readers[roots[use.value]])
        if (reader != self) before.add(reader);
    });
    before.end_node();
  }
  return before;
}

void order_by(Graph& graph, const std::vector<Priority>& priorities, const Dependencies& before) {
  const Lists after(graph.nodes.size(), [&](const auto& add) {
    for (size_t i = 0; i < before.size(); ++i)
      for (int32_t node : before[i]) add(node, static_cast<int32_t>(i));
  });
  std::vector<size_t> missing(graph.nodes.size());
  for (size_t i = 0; i < before.size(); ++i) missing[i] = before[i].size();
  using Entry = std::pair<Priority, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (size_t i = 0; i < missing.size(); ++i)
    if (missing[i] == 0) ready.emplace(priorities[i], static_cast<int32_t>(i));
  std::vector<graph::Node> ordered;
  ordered.reserve(graph.nodes.size());
  while (!ready.empty()) {
    const int32_t node = ready.top().second;
    ready.pop();
    ordered.push_back(std::move(graph.nodes[node]));
    for (int32_t next : after[node])
      if (--missing[next] == 0) ready.emplace(priorities[next], next);
  }
  TORCH_CHECK(ordered.size() == graph.nodes.size(), "the graph's nodes wait for each other");
  graph.nodes = std::move(ordered);
}

}  // namespace heddle::passes
