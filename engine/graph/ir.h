// The captured training step: values and nodes, in execution order.
// Plain data; passes are functions from graph to graph; the text form is in text.h.
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

namespace heddle::graph {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// A tensor of the step: what it is, not where it lies.
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
  Name op;    // "aten.mm", "heddle.all_gather", "aten.add.Tensor": name and overload
  Args args;  // those at the end that are the schema's defaults may be missing
  c10::SmallVector<ValueId, 2> outputs;
  Name module;  // "layers.3.attention.wq"; empty: the step itself
  Phase phase = Phase::forward;
  int32_t stage = 0;          // after the stage pass: the pipeline stage it is part of
  bool weights_only = false;  // after the stage pass: it leads to weight gradients alone
  int32_t micro_batch = 0;    // after the passes: which of the step's micro-batches it works on
  bool next_step = false;     // after the overlap pass: it works for the step after this one
};

/// What enters the step: `inputs` change with every micro-batch or step, `states` live across
/// steps.
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

/// True for the nodes that start a collective ("heddle.all_gather", "heddle.reduce_scatter", …).
bool is_collective(const Node& node);
bool is_all_gather(const Node& node);      // of parameters
bool is_reduce_scatter(const Node& node);  // of gradients
bool is_all_reduce(const Node& node);
bool is_exchange(const Node& node);  // of activations
bool is_wait(const Node& node);

/// True for the two ends of a transfer between pipeline stages.
bool is_send(const Node& node);
bool is_receive(const Node& node);

/// True for collectives whose results are all ranks' rows, or this rank's rows of the sum, whatever
/// they are on.
bool gathers(const Node& collective);
bool scatters(const Node& collective);

/// The name of a collective's process group, and how many ranks it has.
const std::string& group_of(const Node& collective);
int64_t ranks_of(const Graph& graph, const Node& collective);

/// The tensors of a list argument. The argument must be a list of tensors.
Uses& list_of(Node& node, size_t arg = 0);
const Uses& list_of(const Node& node, size_t arg = 0);

/// Number of collectives of one step: those of forward and backward count once a micro-batch.
int64_t collectives_per_step(const Graph& graph);

/// For each value the index of the node that makes it (or the version of it, where it is written
/// to); -1 for inputs and states as they enter.
std::vector<int32_t> producers(const Graph& graph);

}  // namespace heddle::graph
