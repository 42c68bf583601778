#include "engine/cost/work_kind.h"

#include <fmt/format.h>

#include "engine/passes/node_cost.h"

namespace heddle::cost {

WorkKind work_kind(const graph::Graph& graph, const graph::Node& node) {
  if (graph::is_collective(node)) {
    if (graph::is_send(node) || graph::is_receive(node) || node.op->role == graph::Role::shift)
      return WorkKind::hops;
    if (node.op->role == graph::Role::all_to_all) return WorkKind::all_to_alls;
    const bool gathers = graph::gathers(node);
    if (!gathers && !graph::scatters(node)) return WorkKind::sums;
    if (graph::is_exchange(node)) return WorkKind::exchanges;
    return gathers ? WorkKind::gathers : WorkKind::scatters;
  }
  if (passes::flops(graph, node) == 0) return WorkKind::memory_bound;
  switch (node.op->arithmetic) {
    case graph::Arithmetic::attention:
      return WorkKind::attention;
    case graph::Arithmetic::attention_backward:
      return WorkKind::attention_gradients;
    case graph::Arithmetic::product:
    case graph::Arithmetic::float8_product:
      break;
  }
  return WorkKind::products;
}

std::string work_name(WorkKind kind, const Link& link) {
  return fmt::format("{} over {} ranks, {}", work_name(kind), link.ranks, link.transport);
}

}  // namespace heddle::cost
