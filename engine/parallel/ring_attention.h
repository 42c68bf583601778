// Ring attention (arXiv 2310.01889): keys and values go around the ranks while each attends to what
// it has at the moment.
#pragma once

#include "engine/parallel/context_parallel.h"

namespace heddle::parallel {

/// As ContextParallel::attention. The next step's keys travel while this step attends to its own;
/// backward they go around again, followed by their gradients.
at::Tensor ring_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const Context& context, double scale, const Group& group);

}  // namespace heddle::parallel
