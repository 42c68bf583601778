// Collectives as operators of the graph: each starts its work and returns at once; `wait` makes the
// result usable. On the trace device each is one node.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace heddle::runtime {

/// Joins the shards of a group's ranks along dim 0 and keeps the first `rows` rows: [s, …] → [rows,
/// …].
at::Tensor all_gather(const at::Tensor& shard, int64_t rows, const std::string& group);

/// Sums over the group's ranks and keeps this rank's `shard_rows` rows; rows that are missing at
/// the end count as zeros: [rows, …] → [shard_rows, …].
at::Tensor reduce_scatter(const at::Tensor& full, int64_t shard_rows, const std::string& group);

/// Reduces over the group's ranks; `reduction` is "sum" or "max".
at::Tensor all_reduce(const at::Tensor& x, const std::string& reduction, const std::string& group);

/// The result of a collective, ready to be read. Every collective's result passes through this
/// once.
at::Tensor wait(const at::Tensor& pending);

/// Called when the collective that makes a tensor has ended, from a thread of the transport: for
/// the timeline; never called by a transport that cannot tell. Set before the collective starts,
/// taken by the next one that this thread starts.
void on_next_end(std::function<void()> ended);

}  // namespace heddle::runtime
