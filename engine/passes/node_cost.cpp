#include "engine/passes/node_cost.h"

namespace heddle::passes {

double flops(const graph::Graph& graph, const graph::Node& node) {
  return node.op->flops ? node.op->flops(graph, node) : 0.0;
}

int64_t bytes_moved(const graph::Graph& graph, const graph::Node& node) {
  if (node.op->bytes) return node.op->bytes(graph, node);
  int64_t bytes = 0;
  graph::for_each_use(node, [&](const graph::Use& use) {
    bytes += graph.values[use.value].bytes() * (use.written == graph::kNoValue ? 1 : 2);
  });
  for (graph::ValueId output : node.outputs)
    if (output != graph::kNoValue) bytes += graph.values[output].bytes();
  return bytes;
}

}  // namespace heddle::passes
