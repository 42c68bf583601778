#include "engine/parallel/tensor_parallel.h"

namespace heddle::parallel {

at::Tensor TensorParallel::enter(const at::Tensor& x) const {
  if (group.ranks == 1) return x;
  return sequence ? gather_rows(x, group) : copy_to_all(x, group);
}

at::Tensor TensorParallel::leave(const at::Tensor& part) const {
  if (group.ranks == 1) return part;
  return sequence ? scatter_rows(part, group) : sum_over(part, group);
}

}  // namespace heddle::parallel
