// A vocabulary cut over ranks: rank r has the rows [r · n, (r + 1) · n) of the embedding and of the
// output matrix, the last ones of them possibly zeros that stand for no token.
#pragma once

#include "engine/parallel/exchange.h"

namespace heddle::parallel {

/// Rows of this rank's part [n, dim] of an embedding for tokens int64 [T]; zeros for tokens of
/// other ranks, so that the sum over the ranks is the embedding. begin: int64, no dimension: r · n.
at::Tensor embedding_part(const at::Tensor& weight, const at::Tensor& tokens,
                          const at::Tensor& begin);

/// As kernels::cross_entropy, from this rank's columns [T, n] of the logits, which are never
/// gathered: of each row the ranks share three numbers. The same on all ranks.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                         const at::Tensor& begin, int64_t vocabulary, const Group& group);

}  // namespace heddle::parallel
