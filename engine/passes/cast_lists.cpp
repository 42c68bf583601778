#include "engine/passes/cast_lists.h"

#include <vector>

#include "engine/passes/graph_words.h"

namespace heddle::passes {
namespace {

const graph::Op kCast = "aten._to_copy", kList = "heddle.cast_list";

// The result of a cast of floating-point numbers that does nothing else.
std::optional<c10::ScalarType> type_of(const Graph& graph, const Node& node) {
  if (!(node.op == kCast) || node.args.size() != 2) return std::nullopt;
  const auto is_number = [](c10::ScalarType type) {
    return type == c10::kFloat || type == c10::kBFloat16;
  };
  const graph::Value &from = graph::argument(graph, node, 0), &to = graph.values[node.outputs[0]];
  const bool casts = is_number(from.dtype) && is_number(to.dtype) && from.dtype != to.dtype &&
                     from.strides.empty() && to.strides.empty();
  return casts ? std::optional(to.dtype) : std::nullopt;
}

bool same_turn(const Node& a, const Node& b) {
  return a.phase == b.phase && a.stage == b.stage && a.micro_batch == b.micro_batch &&
         a.next_step == b.next_step;
}

class CastLists {
 public:
  explicit CastLists(Graph& graph)
      : graph_(graph), made_by_(graph::producers(graph)), reads_(graph.values.size(), 0) {
    for (const Node& node : graph_.nodes) {
      bool writes = false;
      graph::for_each_use(node, [&](const Use& use) {
        ++reads_[use.value];
        writes = writes || use.written != kNoValue;
      });
      writes_.push_back((writes_.empty() ? 0 : writes_.back()) + (writes ? 1 : 0));
    }
    for (const graph::Binding& output : graph_.outputs) ++reads_[output.value];
  }

  void run() {
    std::vector<bool> gone(graph_.nodes.size(), false);
    std::vector<Node> nodes;
    nodes.reserve(graph_.nodes.size());
    std::vector<std::pair<size_t, Node>> lists;  // before which node
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& collective = graph_.nodes[i];
      if (!graph::is_collective(collective) || graph::is_exchange(collective)) continue;
      const std::vector<int32_t> casts = casts_of(collective, i);
      if (casts.size() < 2) continue;
      lists.emplace_back(i, list_of(casts, collective.module));
      for (const int32_t cast : casts) gone[cast] = true;
    }
    auto list = lists.begin();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (list != lists.end() && list->first == i) nodes.push_back(std::move((list++)->second));
      if (!gone[i]) nodes.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  // The members of the first one's type.
  std::vector<int32_t> casts_of(const Node& collective, size_t index) const {
    std::vector<int32_t> casts;
    std::optional<c10::ScalarType> type;
    for (const Use& use : graph::list_of(collective)) {
      const int32_t maker = made_by_[use.value];
      if (maker < 0 || reads_[use.value] != 1) continue;
      const Node& node = graph_.nodes[maker];
      const auto gives = type_of(graph_, node);
      if (!gives || (type && gives != type) || !same_turn(node, collective) ||
          writes_[index] != writes_[maker])
        continue;
      type = gives;
      casts.push_back(maker);
    }
    return casts;
  }

  Node list_of(const std::vector<int32_t>& casts, Name module) const {
    Node list = graph_.nodes[casts.front()];
    Uses values;
    list.op = kList;
    list.module = module;
    list.outputs.clear();
    for (const int32_t cast : casts) {
      const Node& node = graph_.nodes[cast];
      values.push_back(std::get<Use>(node.args[0]));
      list.outputs.push_back(node.outputs[0]);
      list.weights_only = list.weights_only && node.weights_only;
    }
    const auto type = static_cast<int64_t>(graph_.values[list.outputs[0]].dtype);
    list.args = {Arg(std::move(values)), Arg(c10::IValue(type))};
    return list;
  }

  Graph& graph_;
  std::vector<int32_t> made_by_;
  std::vector<int32_t> reads_;   // by value: how often
  std::vector<int32_t> writes_;  // by node: nodes up to it that write to something
};

}  // namespace

void cast_lists(Graph& graph) { CastLists(graph).run(); }

}  // namespace heddle::passes
