// Output projection and loss in chunks of tokens, so that all logits never exist at one time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace heddle::model {

/// The sum of −log softmax(x·weightᵀ)[label] over the tokens, divided by `token_count`, as
/// kernels::cross_entropy gives it. x [T, dim], weight [V, dim], labels int64 [T], token_count fp32
/// without dimensions; T divides into `chunks`.
///
/// The gradients of x and weight are made chunk by chunk together with the loss, while a chunk's
/// logits [T / chunks, V] are there (as Liger Kernel does it, arXiv 2410.10989): no product is done
/// twice. They are the gradients of the result itself: only its gradient 1 can be handed back. The
/// products sum the weight's, in its dtype.
at::Tensor chunked_loss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& labels,
                        const at::Tensor& token_count, int64_t chunks);

}  // namespace heddle::model
