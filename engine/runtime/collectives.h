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

/// The same three on activations, which belong to a place in the model: they are not put into
/// buckets, and what they give is read by the very next operators. Sums only.
Tensors activation_gather(const Tensors& parts, const std::vector<int64_t>& rows,
                          const std::string& group);
Tensors activation_scatter(const Tensors& wholes, const std::vector<int64_t>& rows,
                           const std::string& group);
Tensors activation_sum(const Tensors& values, const std::string& group);

/// Rank r's i-th part of `ranks` equal ones along dim 0 goes to rank i, as its r-th part.
at::Tensor activation_all_to_all(const at::Tensor& value, const std::string& group);

/// The value of the rank before this one; rank 0 has the last one's.
at::Tensor activation_shift(const at::Tensor& value, const std::string& group);

/// The results of one collective, ready to be read. Every collective's results pass through this
/// once, together.
Tensors wait(const Tensors& pending);

/// Starts an all-reduce in place.
c10::intrusive_ptr<c10d::Work> start_all_reduce(Tensors& values, const std::string& reduction,
                                                const std::string& group);

/// The two ends of a transfer, in a group of two ranks whose first one sends: operators
/// activation_send and activation_receive, which the stage pass puts into the graph.
c10::intrusive_ptr<c10d::Work> start_send(const at::Tensor& value, const std::string& group);
c10::intrusive_ptr<c10d::Work> start_receive(at::Tensor& value, const std::string& group);

/// Start the two exchanges above; `to` and `from` are contiguous.
c10::intrusive_ptr<c10d::Work> start_all_to_all(at::Tensor& to, at::Tensor from,
                                                const std::string& group);
c10::intrusive_ptr<c10d::Work> start_shift(at::Tensor& to, const at::Tensor& from,
                                           const std::string& group);

}  // namespace heddle::runtime
