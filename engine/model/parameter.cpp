#include "engine/model/parameter.h"

#include <ATen/core/grad_mode.h>

#include "engine/runtime/collectives.h"

namespace heddle::model {

at::Tensor Parameter::read() {
  at::Tensor whole;
  {
    at::NoGradGuard no_grad;
    whole = shard.to(sharding.compute);
    if (sharding.ranks > 1)
      whole = runtime::wait(runtime::all_gather({whole}, {shape[0]}, sharding.group)).front();
    if (whole.is_same(shard)) whole = shard.detach();
  }
  whole.set_requires_grad(true);
  reads.push_back(whole);
  return whole;
}

}  // namespace heddle::model
