#include "engine/passes/in_place.h"

#include <unordered_map>

namespace heddle::passes {
namespace {

using graph::Use;
using graph::Value;

using Positions = c10::SmallVector<size_t, 2>;

// By result: what it may take.
const std::vector<Positions>* taken_by(graph::Name op) {
  static const std::unordered_map<graph::Name, std::vector<Positions>> table = {
      {"aten.add.Tensor", {{0, 1}}},
      {"heddle.rms_norm", {{0}}},
      {"heddle.rms_norm_backward", {{0, 1}}},
      {"heddle.rope", {{0}}},
      {"heddle.swiglu", {{0, 1}}},
      {"heddle.swiglu_backward", {{1, 0}, {2, 0}}},
      {"heddle.cross_entropy_backward", {{1}}},
      {"heddle.vocabulary_cross_entropy_backward", {{1}}},
  };
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

// True if the operator may make an argument contiguous or fp32 first, in memory that would be taken
// for the result's: as large as that.
bool may_be_copied(const Value& argument, const Value& result) {
  const int64_t elements =
      argument.bytes() / static_cast<int64_t>(c10::elementSize(argument.dtype));
  return !argument.strides.empty() ||
         (argument.dtype != c10::kFloat && elements * 4 == result.bytes());
}

}  // namespace

Positions may_take(const graph::Graph& graph, const graph::Node& node, size_t output) {
  const auto* takes = taken_by(node.op);
  if (!takes || output >= takes->size()) return {};
  const Value& result = graph.values[node.outputs[output]];
  bool copied = false;
  graph::for_each_use(node, [&](const Use& use) {
    copied = copied || may_be_copied(graph.values[use.value], result);
  });
  if (copied) return {};
  Positions fit;
  for (const size_t position : (*takes)[output]) {
    const auto* use = std::get_if<Use>(&node.args[position]);
    if (!use || use->value == graph::kNoValue) continue;
    const Value& argument = graph.values[use->value];
    if (argument.sizes == result.sizes && argument.dtype == result.dtype) fit.push_back(position);
  }
  return fit;
}

}  // namespace heddle::passes
