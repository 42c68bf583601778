// The order of a graph's nodes: what must come before what, and an order by priorities that obeys.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Where a node would like to stand: first by `place`, then by `rank`, then by `turn`.
struct Priority {
  int64_t place = 0;
  int32_t rank = 0;
  int32_t turn = 0;
  auto operator<=>(const Priority&) const = default;
};

/// For each node the nodes that it depends on.
class Dependencies {
 public:
  std::span<const int32_t> operator[](size_t node) const {
    return {nodes_.data() + begin_[node], nodes_.data() + begin_[node + 1]};
  }
  size_t size() const { return begin_.size() - 1; }

  /// Builds them node by node.
  void add(int32_t earlier) { nodes_.push_back(earlier); }
  void end_node() { begin_.push_back(nodes_.size()); }

 private:
  std::vector<size_t> begin_{0};
  std::vector<int32_t> nodes_;
};

/// For each node those that must come before it: the makers of what it reads, and, where it writes
/// to a value, all that read it or a view of it before; a collective reads until its wait. What a
/// `next_step` node makes is there when a step begins. `made_by`: the graph's producers.
Dependencies dependencies(const graph::Graph& graph, const std::vector<int32_t>& made_by);

/// Reorders the nodes: always the one of least priority among those whose dependencies are met;
/// equal ones as they stood. `before`: the graph's dependencies. O(n log n).
void order_by(graph::Graph& graph, const std::vector<Priority>& priorities,
              const Dependencies& before);

}  // namespace heddle::passes
