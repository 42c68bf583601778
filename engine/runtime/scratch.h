// What operators allocate besides their results, so that the plan has room for it.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::runtime {

/// Bytes of scratch memory of a node's operator, as its kernel (engine/kernels) or LibTorch's asks
/// for it on a CPU with so many threads; each buffer rounded up to 64 bytes.
int64_t scratch_bytes(const graph::Graph& graph, const graph::Node& node, int64_t threads);

/// The same on a GPU; workspaces of cuBLAS and cuDNN are outside of the plan.
int64_t gpu_scratch_bytes(const graph::Graph& graph, const graph::Node& node);

/// Of a collective on CPUs: what it receives from `remote_ranks` of other hosts before it sums
/// that, and the copy that a small sum is taken from (engine/transport).
int64_t collective_scratch_bytes(const graph::Graph& graph, const graph::Node& node,
                                 int64_t remote_ranks);

}  // namespace heddle::runtime
