// A parameter and its parametrization: stored as a shard, read as a whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::model {

/// How parameters are spread: dim 0 is cut into `ranks` shards of equally many rows, the last ones
/// padded with zeros, so that all ranks have one graph (fully sharded data parallelism, arXiv
/// 2304.11277).
struct Sharding {
  int64_t ranks = 1;
  std::string group;  // process group of those ranks

  int64_t shard_rows(int64_t rows) const { return (rows + ranks - 1) / ranks; }
};

/// One parameter of the model as this rank holds it.
struct Parameter {
  std::string name;            // "layers.3.attention.wq.weight"
  std::vector<int64_t> shape;  // of the whole parameter
  at::Tensor shard;            // [shard_rows(shape[0]), …], requires grad
  Sharding sharding;

  /// The whole parameter. Gathers it; autograd records the reverse, a reduce-scatter that sums the
  /// gradient over the ranks and leaves this rank its shard.
  at::Tensor read() const;
};

}  // namespace heddle::model
