#include "engine/model/parameter.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "engine/graph/recorder.h"
#include "engine/runtime/collectives.h"

namespace heddle::model {
namespace {

at::Tensor gathered(const at::Tensor& shard, const Parameter& of) {
  if (of.sharding.ranks == 1) return shard;
  return runtime::wait(runtime::all_gather({shard}, {of.shape[0]}, of.sharding.group)).front();
}

at::Tensor leaf(at::Tensor whole, Parameter& of) {
  whole.set_requires_grad(true);
  of.reads.push_back(whole);
  return whole;
}

}  // namespace

at::Tensor Parameter::read() {
  at::Tensor whole;
  {
    at::NoGradGuard no_grad;
    whole = gathered(shard.to(sharding.compute), *this);
    if (whole.is_same(shard)) whole = shard.detach();
  }
  return leaf(whole, *this);
}

Weight Parameter::read_weight() {
  if (!in_8_bits) return {read()};
  at::NoGradGuard no_grad;
  kernels::Float8Matrix part = kernels::float8_cast(shard, largest.all, largest.index);
  part.values = gathered(part.values, *this);
  // Gradients have another type than these numbers, so autograd gets a zero in their place.
  const at::Tensor none = at::zeros({}, shard.options().dtype(sharding.compute));
  return {leaf(none.expand(shape), *this), part};
}

void find_largest(const std::vector<Parameter*>& parameters) {
  std::vector<at::Tensor> shards;
  for (const Parameter* each : parameters)
    if (each->in_8_bits) shards.push_back(each->shard);
  if (shards.empty()) return;
  at::NoGradGuard no_grad;
  const graph::ModuleScope scope(parameters.front()->module());
  const at::Tensor all = runtime::wait(runtime::all_reduce({kernels::float8_largest(shards)}, "max",
                                                           parameters.front()->sharding.group))
                             .front();
  int64_t index = 0;
  for (Parameter* each : parameters)
    if (each->in_8_bits) each->largest = {all, index++};
}

}  // namespace heddle::model
