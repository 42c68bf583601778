#include "engine/passes/join.h"

#include <algorithm>
#include <vector>

#include "engine/passes/buffers.h"
#include "engine/passes/graph_words.h"

namespace heddle::passes {
namespace {

const graph::Op kCopy = "aten.cat";

class Joiner {
 public:
  Joiner(Graph& graph, int64_t alignment)
      : graph_(graph), alignment_(alignment), buffer_(buffers(graph)) {}

  void run() {
    find_fixed();
    find_writes();
    part_of_.assign(graph_.values.size(), nullptr);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (!is_join(node)) continue;
      if (is_known(node)) continue;
      if (may_be_view(node, static_cast<int32_t>(i))) {
        for (const Use& part : graph::list_of(node)) part_of_[buffer_[part.value]] = &node;
      } else {
        node.op = kCopy;
      }
    }
  }

 private:
  // A value that stays where it is, or is longer than it looks.
  void find_fixed() {
    fixed_.assign(graph_.values.size(), false);
    for (const auto* bindings : {&graph_.inputs, &graph_.states})
      for (const graph::Binding& binding : *bindings) fixed_[binding.value] = true;
    for (const Node& node : graph_.nodes) {
      if (!graph::gathers(node) && !graph::scatters(node)) continue;
      const auto& from = graph::list_of(node);
      for (size_t i = 0; i < from.size(); ++i) {
        const ValueId whole = graph::gathers(node) ? node.outputs[i] : from[i].value;
        const ValueId shard = graph::gathers(node) ? from[i].value : node.outputs[i];
        if (graph::ranks_of(graph_, node) * bytes(shard) != bytes(whole))
          fixed_[buffer_[whole]] = true;
      }
    }
  }

  void find_writes() {
    last_write_.assign(graph_.values.size(), -1);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const bool in_place = works_in_place(node) && !graph::is_send(node);
      graph::for_each_use(node, [&](const Use& use) {
        if (in_place || use.written != kNoValue)
          last_write_[buffer_[use.value]] = static_cast<int32_t>(i);
      });
    }
  }

  int64_t bytes(ValueId value) const { return graph_.values[value].bytes(); }

  // The same parts in the same order, joined before: what unrolling leaves where micro-batches read
  // what was gathered once.
  bool is_known(const Node& node) const {
    const auto& parts = graph::list_of(node);
    const Node* known = part_of_[buffer_[parts.front().value]];
    if (!known || last_write_[node.outputs.front()] >= 0 ||
        last_write_[known->outputs.front()] >= 0)
      return false;
    const auto& others = graph::list_of(*known);
    return std::equal(
        parts.begin(), parts.end(), others.begin(), others.end(), [&](const Use& a, const Use& b) {
          const graph::Value &one = graph_.values[a.value], &other = graph_.values[b.value];
          return buffer_[a.value] == buffer_[b.value] && one.strides.empty() &&
                 other.strides.empty() && one.bytes() == other.bytes() && one.dtype == other.dtype;
        });
  }

  bool may_be_view(const Node& node, int32_t index) const {
    const ValueId whole = node.outputs.front();
    if (last_write_[whole] >= 0) return false;
    int64_t offset = 0;
    std::vector<ValueId> claimed;
    for (const Use& part : graph::list_of(node)) {
      const ValueId memory = buffer_[part.value];
      const graph::Value &shown = graph_.values[part.value], &all = graph_.values[memory];
      const bool is_all = shown.strides.empty() && all.strides.empty() &&
                          shown.bytes() == all.bytes() &&
                          shown.dtype == graph_.values[whole].dtype && all.dtype == shown.dtype;
      if (!is_all || fixed_[memory] || part_of_[memory] || last_write_[memory] > index ||
          offset % alignment_ != 0 ||
          std::find(claimed.begin(), claimed.end(), memory) != claimed.end())
        return false;
      claimed.push_back(memory);
      offset += shown.bytes();
    }
    return true;
  }

  Graph& graph_;
  int64_t alignment_;
  std::vector<ValueId> buffer_;
  std::vector<bool> fixed_;           // by buffer
  std::vector<int32_t> last_write_;   // by buffer: the last node that writes to it, or −1
  std::vector<const Node*> part_of_;  // by buffer: the join that it is a part of
};

}  // namespace

bool is_join(const Node& node) {
  return node.op->role == graph::Role::view && std::holds_alternative<Uses>(node.args.front());
}

void join(Graph& graph, int64_t alignment) { Joiner(graph, alignment).run(); }

}  // namespace heddle::passes
