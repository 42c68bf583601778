// A parameter and its parametrization: stored as a shard, read as a whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/holdings/box.h"
#include "engine/kernels/operators.h"

namespace heddle::model {

/// How parameters are spread: dim 0 is cut into `ranks` shards of equally many rows, the last ones
/// padded with zeros, so that all ranks have one graph (fully sharded data parallelism, arXiv
/// 2304.11277).
struct Sharding {
  int64_t ranks = 1;
  std::string group;                      // process group of those ranks
  c10::ScalarType compute = c10::kFloat;  // what is gathered and computed in

  int64_t shard_rows(int64_t rows) const { return holdings::shard_rows(rows, ranks); }
};

/// A linear layer's weight as products take it.
struct Weight {
  /// [out, in]: the leaf that its gradient is asked for; its numbers, unless they are `gathered`.
  at::Tensor leaf;
  /// The weight as it came in 8 bits; else undefined.
  kernels::Float8Matrix gathered = {};

  bool is_in_8_bits() const { return gathered.values.defined(); }
};

/// One weight's largest number over all ranks' shards, among several weights', fp32 [n].
struct Largest {
  at::Tensor all;
  int64_t index = 0;
};

/// One parameter of the model as this rank holds it.
struct Parameter {
  std::string name;            // "layers.3.attention.wq.weight"
  std::vector<int64_t> shape;  // of the whole parameter, or of this tensor-parallel rank's part
  at::Tensor shard;            // [shard_rows(shape[0]), …], fp32
  Sharding sharding;
  bool in_8_bits = false;  // gathered as e4m3 with a scale of all of it: see find_largest
  Largest largest = {};    // of this micro-batch's forward
  /// Results of `read` since it was last emptied: the leaves whose gradients autograd computes.
  std::vector<at::Tensor> reads;

  /// The module that it belongs to: its name without ".weight" or ".bias".
  std::string module() const { return name.substr(0, name.rfind('.')); }

  /// The whole parameter in the compute dtype, gathered; a leaf that requires a gradient.
  at::Tensor read();
  /// The same of a linear layer's weight, in 8 bits where that is how it is gathered.
  Weight read_weight();
};

/// Finds the largest number of each whole parameter that is gathered in 8 bits: one all-reduce of a
/// number each. One group of ranks shards all `parameters`.
void find_largest(const std::vector<Parameter*>& parameters);

}  // namespace heddle::model
