// The captured training step: values and nodes, in execution order.
// Plain data; passes are functions from graph to graph; the text form is in text.h.
//
// The invariants of a captured graph and after every pass (passes/verify.h):
// 1. Every value is made once, by an input, a state or a node, and before it is read. What a
//    `next_step` node makes is there for all others when a step begins.
// 2. Every collective is waited for exactly once, by one node that takes all that it makes in its
//    order; nothing else reads that.
// 3. What has been written to is no longer read as what it was before: neither itself nor a view of
//    it, nor by a collective until it has been waited for.
// 4. Where every value has its place in memory: nothing reads what something else was put over, and
//    a collective has all of its memory for itself until it has been waited for.
// 5. The ranks of a group start its collectives in one order, alike in kind and size, and no rank
//    waits for one that waits for it.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/graph/name.h"
#include "engine/graph/sizes.h"
#include "engine/graph/traits.h"

namespace heddle::graph {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// A tensor of the step: what it is, not where it is.
struct Value {
  Sizes sizes;
  c10::ScalarType dtype = c10::kFloat;
  Sizes strides;  // empty: contiguous

  int64_t bytes() const;
};

enum class Phase : uint8_t { forward, backward, optimizer };
const char* name_of(Phase phase);

/// Reads one value.
struct Use {
  ValueId value = kNoValue;    // kNoValue: an optional tensor that is absent
  ValueId written = kNoValue;  // the value's number after this node, where the node writes it
};

using Uses = c10::SmallVector<Use, 0>;

/// One argument of a node, in the order of the operator's schema. A constant tensor is a number of
/// 0 dimensions on the CPU, as the 2.0 in `x * 2.0`.
using Arg = std::variant<c10::IValue, Use, Uses>;

/// The arguments of a node, most often in the node itself: passes walk over all of them many times.
using Args = c10::SmallVector<Arg, 4>;

struct Node {
  Op op;      // "aten.mm", "heddle.all_gather", "aten.add.Tensor": name and overload
  Args args;  // those at the end that are the schema's defaults may be missing
  c10::SmallVector<ValueId, 2> outputs;
  Name module;  // "layers.3.attention.wq"; empty: the step itself
  Phase phase = Phase::forward;
  int32_t stage = 0;          // after the stage pass: the pipeline stage it is part of
  bool weights_only = false;  // after the stage pass: it leads to weight gradients alone
  int32_t micro_batch = 0;    // after the passes: which of the step's micro-batches it works on
  bool next_step = false;     // after the overlap pass: it works for the step after this one
};

/// Everything that enters the step: `inputs` change with every micro-batch or step, `states` live
/// across steps.
struct Binding {
  std::string name;
  ValueId value = kNoValue;
};

struct Graph {
  std::vector<Value> values;  // by ValueId
  std::vector<Binding> inputs;
  std::vector<Binding> states;
  std::vector<Node> nodes;
  std::vector<Binding> outputs;
  int64_t micro_batches = 1;              // how often forward and backward run before the optimizer
  std::map<std::string, int64_t> groups;  // process groups of its collectives: name, ranks
  std::map<std::string, std::string> notes;  // how it came about; not executed

  ValueId add_value(Sizes sizes, c10::ScalarType dtype);
};

/// Calls `visit(Use&)` for every tensor a node reads, in argument order.
template <typename NodeType, typename Visit>
void for_each_use(NodeType& node, Visit&& visit) {
  for (auto& arg : node.args) {
    if (auto* use = std::get_if<Use>(&arg)) {
      if (use->value != kNoValue) visit(*use);
    } else if (auto* uses = std::get_if<Uses>(&arg)) {
      for (auto& each : *uses)
        if (each.value != kNoValue) visit(each);
    }
  }
}

/// The value that an argument reads: it is a tensor, and there.
inline const Value& argument(const Graph& graph, const Node& node, size_t i) {
  return graph.values[std::get<Use>(node.args[i]).value];
}

/// True for the nodes that start a collective.
inline bool is_collective(const Node& node) { return node.op->role > Role::wait; }
inline bool is_wait(const Node& node) { return node.op->role == Role::wait; }
/// True where the results are memory that was there before.
inline bool is_view(const Node& node) {
  return node.op->role == Role::view || node.op->role == Role::wait;
}

/// True for collectives of activations.
inline bool is_exchange(const Node& node) { return node.op->of_activations; }

/// True for the two ends of a transfer between pipeline stages.
inline bool is_send(const Node& node) { return node.op->role == Role::send; }
inline bool is_receive(const Node& node) { return node.op->role == Role::receive; }

/// True for collectives whose results are all ranks' rows, this rank's rows of the sum, or the
/// whole sum or maximum, whatever they are on.
inline bool gathers(const Node& node) { return node.op->role == Role::all_gather; }
inline bool scatters(const Node& node) { return node.op->role == Role::reduce_scatter; }
inline bool reduces(const Node& node) { return node.op->role == Role::all_reduce; }

/// Collectives of parameters, of gradients, and of gradients or numbers of the whole step.
inline bool is_all_gather(const Node& node) { return gathers(node) && !is_exchange(node); }
inline bool is_reduce_scatter(const Node& node) { return scatters(node) && !is_exchange(node); }
inline bool is_all_reduce(const Node& node) { return reduces(node) && !is_exchange(node); }

/// The name of a collective's process group, and how many ranks it has.
const std::string& group_of(const Node& collective);
int64_t ranks_of(const Graph& graph, const Node& collective);

/// The tensors of a list argument. The argument must be a list of tensors.
Uses& list_of(Node& node, size_t arg = 0);
const Uses& list_of(const Node& node, size_t arg = 0);

/// Number of collectives of one step: forward's and backward's count once a micro-batch.
int64_t collectives_per_step(const Graph& graph);

/// For each value the index of the node that makes it (or the version of it, where it is written
/// to); -1 for inputs and states as they enter.
std::vector<int32_t> producers(const Graph& graph);

}  // namespace heddle::graph
