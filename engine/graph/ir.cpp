#include "engine/graph/ir.h"

#include <array>

namespace heddle::graph {
int64_t Value::bytes() const {
  int64_t count = static_cast<int64_t>(c10::elementSize(dtype));
  for (int64_t size : sizes) count *= size;
  return count;
}

const char* name_of(Phase phase) {
  constexpr std::array names = {"forward", "backward", "optimizer"};
  return names[static_cast<size_t>(phase)];
}

ValueId Graph::add_value(Sizes sizes, c10::ScalarType dtype) {
  values.push_back(Value{sizes, dtype, {}});
  return static_cast<ValueId>(values.size()) - 1;
}

const std::string& group_of(const Node& collective) {
  return std::get<c10::IValue>(collective.args.back()).toStringRef();
}

int64_t ranks_of(const Graph& graph, const Node& collective) {
  const auto group = graph.groups.find(group_of(collective));
  TORCH_CHECK(group != graph.groups.end(), "the graph does not say how many ranks the group \"",
              group_of(collective), "\" has");
  return group->second;
}

Uses& list_of(Node& node, size_t arg) { return std::get<Uses>(node.args[arg]); }
const Uses& list_of(const Node& node, size_t arg) { return std::get<Uses>(node.args[arg]); }

int64_t collectives_per_step(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes)
    if (is_collective(node)) count += node.phase == Phase::optimizer ? 1 : graph.micro_batches;
  return count;
}

std::vector<int32_t> producers(const Graph& graph) {
  std::vector<int32_t> made_by(graph.values.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId output : graph.nodes[i].outputs)
      if (output != kNoValue) made_by[output] = static_cast<int32_t>(i);
    for_each_use(graph.nodes[i], [&](const Use& use) {
      if (use.written != kNoValue) made_by[use.written] = static_cast<int32_t>(i);
    });
  }
  return made_by;
}

}  // namespace heddle::graph
