#include "engine/passes/recompute.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "engine/graph/cleanup.h"
#include "engine/passes/bucket_plan.h"
#include "engine/passes/graph_words.h"
#include "engine/passes/node_cost.h"

namespace heddle::passes {
namespace {

using graph::Selective;

class Recomputer {
 public:
  Recomputer(Graph& graph, const RecomputeOptions& options)
      : graph_(graph),
        options_(options),
        made_by_(graph::producers(graph)),
        again_(graph.nodes.size(), false),
        view_(graph.nodes.size(), false),
        forward_(graph.nodes.size(), false),
        block_(graph.nodes.size()),
        copies_(graph.values.size(), kNoValue) {}

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      view_[i] = graph::is_view(node);
      forward_[i] = node.phase == Phase::forward;
      block_[i] = block_of_module(node.module);
    }
    mark_gathers();
    mark_inputs();
    mark_blocks();
    mark_views();
    insert_copies();
  }

 private:
  bool forward(size_t node) const { return forward_[node]; }

  Name block_of_module(Name module) {
    const auto [entry, is_new] = blocks_.try_emplace(module);
    if (is_new) entry->second = block_of(module.text());
    return entry->second;
  }

  int32_t maker(ValueId value) const { return made_by_[value]; }

  // Cast, gather and wait of parameters that do not stay.
  void mark_gathers() {
    if (!options_.reshard) return;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!forward(i)) continue;
      if (graph::is_all_gather(node)) {
        again_[i] = !options_.stay.contains(node.module);
        if (again_[i])
          graph::for_each_use(node, [&](const Use& use) { mark_casts(maker(use.value)); });
      } else if (graph::is_wait(node)) {
        again_[i] = again_[maker(graph::list_of(node).front().value)];
      }
    }
  }

  // A value from other ranks (the scale of a weight in 8 bits) stays: it is small.
  void mark_casts(int32_t node) {
    if (node < 0 || again_[node] || graph::is_wait(graph_.nodes[node])) return;
    again_[node] = true;
    graph::for_each_use(graph_.nodes[node], [&](const Use& use) { mark_casts(maker(use.value)); });
  }

  // Gathers of other ranks' rows; `mark_blocks` marks the nodes that wait for them.
  void mark_inputs() {
    if (options_.gathers_again.empty()) return;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (forward(i) && !block_[i].empty() && graph::is_exchange(node) && graph::gathers(node))
        again_[i] = graph::group_of(node) == options_.gathers_again;
    }
  }

  // A view of what is made again is made again: it costs nothing.
  void mark_views() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!forward(i) || !view_[i] || graph::is_wait(graph_.nodes[i])) continue;
      bool base = false;
      graph::for_each_use(graph_.nodes[i], [&](const Use& use) {
        base = base || (maker(use.value) >= 0 && again_[maker(use.value)]);
      });
      again_[i] = base;
    }
  }

  // Values that forward nodes of other blocks read, or the step's end, stay.
  std::vector<bool> leaves_its_block() const {
    std::vector<bool> leaves(graph_.nodes.size(), false);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      graph::for_each_use(node, [&](const Use& use) {
        const int32_t from = maker(use.value);
        if (from < 0 || !forward(from)) return;
        const bool other =
            node.phase == Phase::optimizer || (forward(i) && block_[i] != block_[from]);
        // The value under a view leaves with the view.
        if (other || (forward(i) && view_[i] && leaves[i])) leaves[from] = true;
      });
    }
    for (const graph::Binding& output : graph_.outputs)
      if (const int32_t from = maker(output.value); from >= 0) leaves[from] = true;
    return leaves;
  }

  void mark_blocks() {
    const std::vector<bool> leaves = leaves_its_block();
    std::unordered_map<Name, int> products;  // matrix products so far, by block
    std::vector<size_t> candidates;          // for the budget
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const Name block = block_[i];
      if (!forward(i) || block.empty() || graph::is_wait(node) || graph::is_all_gather(node) ||
          graph::is_all_reduce(node))
        continue;
      const Recompute mode = options_.mode(block.text());
      const Selective selective = node.op->selective;
      const bool second = selective == Selective::every_second_kept && products[block]++ % 2 != 0;
      if (mode == Recompute::none || leaves[i] || again_[i]) continue;
      again_[i] = true;
      if (mode == Recompute::selective) again_[i] = selective != Selective::kept && !second;
      if (mode == Recompute::budget && !view_[i]) candidates.push_back(i);
    }
    spend_budget(candidates);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (forward(i) && graph::is_wait(graph_.nodes[i]))
        again_[i] = again_[maker(graph::list_of(graph_.nodes[i]).front().value)];
  }

  // Keeps the dearest nodes per byte until the share is spent: each share keeps what a smaller one
  // keeps, and more.
  void spend_budget(std::vector<size_t>& candidates) {
    if (candidates.empty()) return;
    std::vector<int64_t> bytes(graph_.nodes.size(), 0);
    for (const Node& node : graph_.nodes) {
      if (node.phase != Phase::backward) continue;
      graph::for_each_use(node, [&](const Use& use) { count_kept(use.value, bytes); });
    }
    std::erase_if(candidates, [&](size_t node) { return bytes[node] == 0; });
    int64_t all = 0;
    for (size_t node : candidates) all += bytes[node];
    std::stable_sort(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
      return worth(a) / static_cast<double>(bytes[a]) > worth(b) / static_cast<double>(bytes[b]);
    });
    int64_t left = static_cast<int64_t>(static_cast<double>(all) * options_.budget);
    for (size_t node : candidates) {
      left -= bytes[node];
      if (left < 0) return;
      again_[node] = false;
    }
  }

  // The node whose memory a value is, once.
  void count_kept(ValueId value, std::vector<int64_t>& bytes) const {
    const int32_t from = maker(value);
    if (from < 0 || !forward(from)) return;
    const Node& node = graph_.nodes[from];
    if (view_[from]) {
      graph::for_each_use(node, [&](const Use& use) { count_kept(use.value, bytes); });
      return;
    }
    int64_t total = 0;
    for (ValueId output : node.outputs)
      if (output != kNoValue) total += graph_.values[output].bytes();
    bytes[from] = total;
  }

  // A byte moved takes about as long as ten operations of a matrix product.
  double worth(size_t node) const {
    return flops(graph_, graph_.nodes[node]) +
           10.0 * static_cast<double>(bytes_moved(graph_, graph_.nodes[node]));
  }

  void insert_copies() {
    std::vector<Node> nodes;
    nodes.reserve(graph_.nodes.size() * 2);
    std::vector<Node> captured = std::move(graph_.nodes);
    for (size_t i = 0; i < captured.size(); ++i) {
      Node node = again_[i] ? captured[i] : std::move(captured[i]);
      if (node.phase == Phase::backward)
        graph::for_each_use(node,
                            [&](Use& use) { use.value = copy_of(captured, use.value, nodes); });
      nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
    graph::remove_unread_nodes(graph_);
  }

  // The value as backward reads it: itself, or what the copy of its maker makes.
  ValueId copy_of(const std::vector<Node>& captured, ValueId value, std::vector<Node>& nodes) {
    if (static_cast<size_t>(value) >= made_by_.size()) return value;
    const int32_t from = maker(value);
    if (from < 0 || !forward(from) || !again_[from]) return value;
    if (copies_[value] != kNoValue) return copies_[value];
    Node copy = captured[from];
    copy.phase = Phase::backward;
    graph::for_each_use(copy, [&](Use& use) { use.value = copy_of(captured, use.value, nodes); });
    for (ValueId& output : copy.outputs) {
      if (output == kNoValue) continue;
      graph::Value made = graph_.values[output];
      graph_.values.push_back(std::move(made));
      const auto fresh = static_cast<ValueId>(graph_.values.size()) - 1;
      copies_[output] = fresh;
      output = fresh;
    }
    nodes.push_back(std::move(copy));
    return copies_[value];
  }

  Graph& graph_;
  const RecomputeOptions& options_;
  std::vector<int32_t> made_by_;
  std::vector<bool> again_;                // by node: backward makes it again
  std::vector<bool> view_, forward_;       // by node
  std::vector<Name> block_;                // by node
  std::unordered_map<Name, Name> blocks_;  // by module
  std::vector<ValueId> copies_;            // by value: what its maker's copy makes
};

}  // namespace

void recompute(Graph& graph, const RecomputeOptions& options) { Recomputer(graph, options).run(); }

}  // namespace heddle::passes
