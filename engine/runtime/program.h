// A planned graph made ready to run on a device: instructions whose tensors all have their place.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/passes/memory.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/placement.h"

namespace heddle::runtime {

using NamedTensors = std::map<std::string, at::Tensor>;
using Tensors = std::vector<at::Tensor>;

/// Calls an operator. Results that it did not make in their place are copied there.
struct Call {
  c10::OperatorHandle op;
  torch::jit::Stack arguments;
  Tensors results;           // undefined: not kept
  std::vector<int> returns;  // by result: which of the operator's returns, or of its list
  Placement placement;
};

/// Starts a collective; `slot` is where its work is kept until it is waited for.
struct Start {
  graph::Role kind;  // of a collective
  std::string group, reduction;
  Tensors from, to;  // padded whole tensors, and shards
  Tensors tails;     // padding of what is scattered, zeroed first
  size_t slot = 0;
  int64_t bytes = 0;  // of the whole tensors
  Placement placement;
};

struct Wait {
  size_t slot = 0;
};

struct Instruction {
  std::variant<Call, Start, Wait> what;
  int32_t node;  // in the graph
};

/// Everything of a step, with its memory.
struct Program {
  graph::Graph graph;
  passes::MemoryPlan memory;
  std::shared_ptr<Arena> arena;
  NamedTensors inputs;     // copied into before a step; "tokens@1": of micro-batch 1
  at::Tensor input_bytes;  // bytes: all of these, side by side
  NamedTensors outputs;
  std::vector<Instruction> instructions;  // in order; views are none
  Tensors values;                         // by ValueId
  size_t slots = 0;

  /// Binds a planned graph to its states, which each step changes in place. An error names the
  /// state that is missing or has another shape, or the operator that does not exist. `arena`: has
  /// room for the plan, and may be another program's, which then runs at other times; none: one of
  /// its own.
  static Result<Program> create(graph::Graph graph, passes::MemoryPlan memory,
                                const NamedTensors& states, c10::Device device,
                                std::shared_ptr<Arena> arena = nullptr);
};

}  // namespace heddle::runtime
