#include "engine/model/parameter.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/runtime/collectives.h"

namespace heddle::model {
namespace {

struct Gather : torch::autograd::Function<Gather> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& shard,
                            int64_t rows, const std::string& group) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["shard_rows"] = shard.size(0);
    context->saved_data["group"] = group;
    return runtime::wait(runtime::all_gather(shard, rows, group));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor shard =
        runtime::reduce_scatter(grads[0], context->saved_data["shard_rows"].toInt(),
                                context->saved_data["group"].toStringRef());
    return {runtime::wait(shard), {}, {}};
  }
};

}  // namespace

at::Tensor Parameter::read() const {
  if (sharding.ranks == 1) return shard;
  return Gather::apply(shard, shape[0], sharding.group);
}

}  // namespace heddle::model
