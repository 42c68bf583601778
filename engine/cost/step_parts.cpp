#include "engine/cost/step_parts.h"

#include "engine/passes/node_cost.h"

namespace heddle::cost {
namespace {

using graph::Arithmetic;
using graph::Node;

bool is_attention(const Node& node) {
  return node.op->arithmetic == Arithmetic::attention ||
         node.op->arithmetic == Arithmetic::attention_backward;
}

}  // namespace

StepParts step_parts(const graph::Graph& one_layer, const CostModel& cost) {
  StepParts parts;
  for (const Node& node : one_layer.nodes) {
    if (node.phase == graph::Phase::optimizer || graph::is_view(node) || graph::is_wait(node))
      continue;
    const bool in_layer = node.module.text().starts_with("layers.");
    PartSeconds& part =
        node.phase == graph::Phase::forward ? parts.layer_forward : parts.layer_backward;
    if (graph::is_collective(node)) {
      if (!in_layer || !graph::is_exchange(node)) continue;
      part.exchanges += cost.transfer(one_layer, node).alone;
      ++part.exchanged;
      continue;
    }
    const double seconds = cost.seconds(one_layer, node);
    const bool product = passes::flops(one_layer, node) > 0 && !is_attention(node);
    if (!in_layer) {
      if (product) parts.head_products += seconds;
    } else if (product) {
      part.products += seconds;
    } else if (is_attention(node)) {
      part.attention += seconds;
    } else {
      part.passes += seconds;
    }
  }
  return parts;
}

}  // namespace heddle::cost
