// Bytes that kernels allocate besides their results, as their entries in the table of operators
// give them.
#pragma once

#include <algorithm>

#include "engine/graph/ir.h"

namespace heddle::kernels {

inline int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The value as fp32.
inline int64_t float_bytes(const graph::Value& value) {
  return aligned(value.bytes() / static_cast<int64_t>(c10::elementSize(value.dtype)) * 4);
}

inline bool converts(const graph::Value& value) { return value.dtype != c10::kFloat; }

/// Kernels read contiguous tensors and copy others: the scratch of every operator of this folder.
inline int64_t contiguous_copies(const graph::Graph& graph, const graph::Node& node,
                                 const graph::Workplace& = {}) {
  int64_t bytes = 0;
  graph::for_each_use(node, [&](const graph::Use& use) {
    const graph::Value& value = graph.values[use.value];
    if (!value.strides.empty()) bytes += aligned(std::max(value.bytes(), float_bytes(value)));
  });
  return bytes;
}

}  // namespace heddle::kernels
