// Graph nodes to LibTorch operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <optional>

#include "engine/graph/ir.h"

namespace heddle::graph {

/// The operator that a node names ("aten.add.Tensor"), or nullopt if there is none.
std::optional<c10::OperatorHandle> find_operator(Op op);

/// True if the schema's argument takes a tensor, an optional tensor or a list of them.
bool takes_tensors(const c10::Argument& argument);

/// True for a constant or an absent tensor that the operator's schema has as its default.
bool is_default(const Arg& arg, const c10::Argument& declared);

/// The arguments without those at the end that are their defaults.
Args without_defaults(const c10::FunctionSchema& schema, std::vector<Arg> args);

/// A node's arguments as its operator takes them, with the defaults of those that the node does
/// without: `tensor` gives the values', and constants that name a device get `device`.
torch::jit::Stack arguments_of(const Node& node, const c10::FunctionSchema& schema,
                               const std::function<at::Tensor(ValueId)>& tensor,
                               c10::Device device);

}  // namespace heddle::graph
