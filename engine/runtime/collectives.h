// Collectives as operators of the graph, each on a bucket of tensors: they start their work and
// return at once; `wait` makes the results usable. On the trace device each is one node.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace heddle::runtime {

using Tensors = std::vector<at::Tensor>;

/// Joins the shards of a group's ranks along dim 0 and keeps the first `rows` rows, for each tensor
/// of a bucket: [s, …] → [rows, …].
Tensors all_gather(const Tensors& shards, const std::vector<int64_t>& rows,
                   const std::string& group);

/// Sums over the group's ranks and keeps this rank's `shard_rows` rows, for each tensor of a
/// bucket; rows that are missing at the end count as zeros: [rows, …] → [shard_rows, …].
Tensors reduce_scatter(const Tensors& fulls, const std::vector<int64_t>& shard_rows,
                       const std::string& group);

/// Reduces over the group's ranks; `reduction` is "sum" or "max".
Tensors all_reduce(const Tensors& values, const std::string& reduction, const std::string& group);

/// The results of one collective, ready to be read. Every collective's results pass through this
/// once, together.
Tensors wait(const Tensors& pending);

/// Starts an all-reduce in place.
c10::intrusive_ptr<c10d::Work> start_all_reduce(Tensors& values, const std::string& reduction,
                                                const std::string& group);

}  // namespace heddle::runtime
