#include "engine/passes/node_cost.h"

namespace heddle::passes {
namespace {

const graph::Value& tensor_argument(const graph::Graph& graph, const graph::Node& node, size_t i) {
  return graph.values[std::get<graph::Use>(node.args[i]).value];
}

// q [B, S, H, D], k [B, N, K, D]: two products of S × N × D a head, half of it unseen.
double attention_flops(graph::Sizes q, graph::Sizes k) {
  return 2.0 * static_cast<double>(q[0]) * static_cast<double>(q[1]) * static_cast<double>(k[1]) *
         static_cast<double>(q[2]) * static_cast<double>(q[3]);
}

}  // namespace

std::optional<size_t> first_factor(const graph::Node& node) {
  if (node.op == "aten.mm") return 0;
  if (node.op == "aten.addmm_") return 1;
  return std::nullopt;
}

double flops(const graph::Graph& graph, const graph::Node& node) {
  if (const auto first = first_factor(node)) {
    const graph::Sizes a = tensor_argument(graph, node, *first).sizes;
    const graph::Sizes b = tensor_argument(graph, node, *first + 1).sizes;
    return 2.0 * static_cast<double>(a[0]) * static_cast<double>(a[1]) * static_cast<double>(b[1]);
  }
  if (node.op == "heddle.attention")
    return attention_flops(tensor_argument(graph, node, 0).sizes,
                           tensor_argument(graph, node, 1).sizes);
  // Backward makes the scores again and has four products more (arXiv 2205.14135).
  if (node.op == "heddle.attention_backward")
    return 2.5 * attention_flops(tensor_argument(graph, node, 1).sizes,
                                 tensor_argument(graph, node, 2).sizes);
  return 0.0;
}

int64_t bytes_moved(const graph::Graph& graph, const graph::Node& node) {
  int64_t bytes = 0;
  graph::for_each_use(node, [&](const graph::Use& use) {
    bytes += graph.values[use.value].bytes() * (use.written == graph::kNoValue ? 1 : 2);
  });
  for (graph::ValueId output : node.outputs)
    if (output != graph::kNoValue) bytes += graph.values[output].bytes();
  return bytes;
}

}  // namespace heddle::passes
