#include "engine/passes/buffers.h"

#include <numeric>

#include "engine/passes/graph_words.h"
#include "engine/passes/join.h"

namespace heddle::passes {

bool works_in_place(const Node& node) {
  return graph::is_send(node) || (graph::is_all_reduce(node) && !node.module.empty());
}

std::vector<ValueId> buffers(const Graph& graph) {
  std::vector<ValueId> of(graph.values.size());
  std::iota(of.begin(), of.end(), 0);
  for (const Node& node : graph.nodes) {
    graph::for_each_use(node, [&](const Use& use) {
      if (use.written != kNoValue) of[use.written] = of[use.value];
    });
    if (graph::is_wait(node) || works_in_place(node)) {
      const auto& pending = graph::list_of(node);
      for (size_t i = 0; i < node.outputs.size(); ++i) of[node.outputs[i]] = of[pending[i].value];
    } else if (graph::is_view(node) && !is_join(node)) {
      const ValueId base = std::get<Use>(node.args.front()).value;
      for (ValueId output : node.outputs)
        if (output != kNoValue) of[output] = of[base];
    }
  }
  return of;
}

}  // namespace heddle::passes
