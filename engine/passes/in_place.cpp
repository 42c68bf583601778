#include "engine/passes/in_place.h"

#include "engine/passes/graph_words.h"

namespace heddle::passes {
namespace {

using graph::Value;

// True if the operator may make an argument contiguous or fp32 first, in memory that would be taken
// for the result's: as large as that.
bool may_be_copied(const Value& argument, const Value& result) {
  const int64_t elements =
      argument.bytes() / static_cast<int64_t>(c10::elementSize(argument.dtype));
  return !argument.strides.empty() ||
         (argument.dtype != c10::kFloat && elements * 4 == result.bytes());
}

}  // namespace

c10::SmallVector<size_t, 2> may_take(const graph::Graph& graph, const graph::Node& node,
                                     size_t output) {
  const auto& takes = node.op->takes;
  if (output >= takes.size()) return {};
  const Value& result = graph.values[node.outputs[output]];
  bool copied = false;
  graph::for_each_use(node, [&](const Use& use) {
    copied = copied || may_be_copied(graph.values[use.value], result);
  });
  if (copied) return {};
  c10::SmallVector<size_t, 2> fit;
  for (const size_t position : takes[output]) {
    const auto* use = std::get_if<Use>(&node.args[position]);
    if (!use || use->value == graph::kNoValue) continue;
    const Value& argument = graph.values[use->value];
    if (argument.sizes == result.sizes && argument.dtype == result.dtype) fit.push_back(position);
  }
  return fit;
}

}  // namespace heddle::passes
