// The kind of work of a node, by which finished runs are compared with predictions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cost/calibration.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

enum class WorkKind : uint8_t {
  products,
  attention,
  attention_gradients,
  memory_bound,
  gathers,  // of buckets; collectives from here on
  scatters,
  exchanges,  // of activations: gathers and scatters
  sums,
  all_to_alls,
  hops,  // from one rank to another
};
inline constexpr std::array<std::string_view, 10> kWorkKindNames = {
    "products",  "attention", "attention's gradients", "memory-bound", "gathers", "scatters",
    "exchanges", "sums",      "all-to-alls",           "hops"};

/// The kind of a node that takes time: no view, no wait.
WorkKind work_kind(const graph::Graph& graph, const graph::Node& node);

/// "gathers over 4 ranks, memory + tcp": groups of other sizes, and other ways to travel, are
/// slower or faster for reasons of their own.
std::string work_name(WorkKind kind, const Link& link);
/// "products".
inline std::string work_name(WorkKind kind) {
  return std::string(kWorkKindNames[static_cast<size_t>(kind)]);
}

}  // namespace heddle::cost
