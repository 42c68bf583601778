#include "engine/graph/ir.h"

#include <algorithm>
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

ValueId Graph::add_value(std::vector<int64_t> sizes, c10::ScalarType dtype) {
  values.push_back(Value{std::move(sizes), dtype});
  return static_cast<ValueId>(values.size()) - 1;
}

bool is_collective(const Node& node) {
  constexpr std::array names = {"heddle.all_gather", "heddle.reduce_scatter", "heddle.all_reduce"};
  return std::find(names.begin(), names.end(), node.op) != names.end();
}

int64_t collectives_per_step(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes)
    if (is_collective(node)) count += node.phase == Phase::optimizer ? 1 : graph.micro_batches;
  return count;
}

}  // namespace heddle::graph
