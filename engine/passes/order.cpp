#include "engine/passes/order.h"

#include <numeric>
#include <queue>
#include <utility>
#include <variant>

#include "engine/graph/operators.h"

namespace heddle::passes {

using graph::Graph;
using graph::Use;

namespace {

template <typename Visit>
void for_each_use(const Graph& graph, Visit&& visit) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    graph::for_each_use(graph.nodes[i],
                        [&](const Use& use) { visit(static_cast<int32_t>(i), use); });
}

// For each value what it is a view of: itself, where it is none.
std::vector<graph::ValueId> viewed(const Graph& graph) {
  std::vector<graph::ValueId> roots(graph.values.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<graph::ValueId>(i);
  for (const graph::Node& node : graph.nodes) {
    const auto op = graph::find_operator(node.op);
    if (!op || !graph::is_view(*op) || graph::is_wait(node)) continue;
    const auto* base = std::get_if<Use>(&node.args.front());
    if (!base || base->value == graph::kNoValue) continue;
    for (graph::ValueId output : node.outputs)
      if (output != graph::kNoValue) roots[output] = roots[base->value];
  }
  return roots;
}

}  // namespace

Dependencies dependencies(const Graph& graph) {
  const std::vector<int32_t> made_by = graph::producers(graph);
  const std::vector<graph::ValueId> roots = viewed(graph);
  // Of what is written to: those of value v from begin[v] to begin[v + 1].
  std::vector<size_t> begin(graph.values.size() + 1, 0);
  std::vector<bool> written(graph.values.size(), false);
  for_each_use(graph, [&](int32_t, const Use& use) {
    if (use.written != graph::kNoValue) written[roots[use.value]] = true;
  });
  for_each_use(graph, [&](int32_t, const Use& use) {
    if (written[roots[use.value]]) ++begin[roots[use.value] + 1];
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int32_t> readers(begin.back());
  std::vector<size_t> filled(begin.begin(), begin.end() - 1);
  for_each_use(graph, [&](int32_t node, const Use& use) {
    if (written[roots[use.value]]) readers[filled[roots[use.value]]++] = node;
  });
  Dependencies before;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto self = static_cast<int32_t>(i);
    graph::for_each_use(graph.nodes[i], [&](const Use& use) {
      const int32_t maker = made_by[use.value];
      const bool there = maker < 0 || (graph.nodes[maker].next_step && !graph.nodes[i].next_step);
      if (!there && maker != self) before.add(maker);
      if (use.written == graph::kNoValue) return;
      const graph::ValueId root = roots[use.value];
      for (size_t r = begin[root]; r < begin[root + 1]; ++r)
        if (readers[r] != self) before.add(readers[r]);
    });
    before.end_node();
  }
  return before;
}

void order_by(Graph& graph, const std::vector<Priority>& priorities, const Dependencies& before) {
  std::vector<size_t> missing(graph.nodes.size()), behind(graph.nodes.size() + 1, 0);
  for (size_t i = 0; i < before.size(); ++i) {
    missing[i] = before[i].size();
    for (int32_t node : before[i]) ++behind[node + 1];
  }
  std::partial_sum(behind.begin(), behind.end(), behind.begin());
  std::vector<int32_t> after(behind.back());  // node i's: from behind[i] to behind[i + 1]
  std::vector<size_t> filled(behind.begin(), behind.end() - 1);
  for (size_t i = 0; i < before.size(); ++i)
    for (int32_t node : before[i]) after[filled[node]++] = static_cast<int32_t>(i);
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
    for (size_t i = behind[node]; i < behind[node + 1]; ++i)
      if (--missing[after[i]] == 0) ready.emplace(priorities[after[i]], after[i]);
  }
  TORCH_CHECK(ordered.size() == graph.nodes.size(), "the graph's nodes wait for each other");
  graph.nodes = std::move(ordered);
}

}  // namespace heddle::passes
