// Heddle's own operators: schema, shape rule, CPU kernel and backward of each in the file of its
// name. They run on any device that has a kernel, and on the trace device, where they become one
// node. The model's take and give fp32 or bf16 and compute in fp32; CPU results are the same bits
// for any number of threads. Shapes: B sequences, S tokens each, T = B·S, H heads, K kv heads, D
// head dim, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace heddle::kernels {

/// y = x / rms(x) · weight over the last dimension. x [T, dim], weight [dim].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// Rotates interleaved pairs (2i, 2i+1) of the last dimension by the angle of their position.
/// x [B, S, H, D]; table [positions, D/2, 2] of (cos, sin); positions int64 [B, S].
at::Tensor rope(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions);

/// Which keys a query sees, by their index in the sequence: those from `first` to `last`, each
/// int64 [B, S]. The N keys are in equal pieces of consecutive indices, which begin at `starts`,
/// int64 [pieces]; without it there is one piece, from 0. Without `first` and `last` attention is
/// causal, N = S. Enough for documents packed into a sequence and for parts of one on several
/// ranks, without a mask of S × N. `sight`: what kernels need of the three besides, made once for
/// all layers (sight_numbers.h).
struct Keys {
  std::optional<at::Tensor> first, last, starts, sight;
};

/// softmax(q·kᵀ·scale)·v over the keys that each query sees. q [B, S, H, D]; k, v [B, N, K, D], K
/// divides H: query head h reads kv head h / (H / K). Returns [B, S, H, D].
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                     const Keys& keys = {});

/// The same over some of a query's keys, without autograd: the result, zeros where a query sees
/// none of them, and logsumexp [B, H, S] of its scores, −∞ there.
std::tuple<at::Tensor, at::Tensor> attention_part(const at::Tensor& q, const at::Tensor& k,
                                                  const at::Tensor& v, const Keys& keys,
                                                  double scale);
/// Two parts over different keys, each with its logsumexp, as one: result and logsumexp.
std::tuple<at::Tensor, at::Tensor> merge_attention(const at::Tensor& out_a, const at::Tensor& lse_a,
                                                   const at::Tensor& out_b,
                                                   const at::Tensor& lse_b);
/// Gradients of q, k and v from these keys; out and logsumexp are of all keys.
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_part_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& logsumexp, const Keys& keys, double scale);

/// A matrix in 8 bits: values [r, c] of e4m3 or e5m2, and what to multiply them by: fp32, one for
/// all (no dimension) or one a row [r, 1].
struct Float8Matrix {
  at::Tensor values, inverse_scale;
};

/// x, a bf16 matrix, or xᵀ where `transposed`, in 8 bits: x · scale, saturated and rounded to
/// nearest. The scale makes the largest |x| the largest number of `type`; `by_row` each row has its
/// own, rounded down to a power of two. The bits are torchao's (recipes tensorwise and rowwise).
Float8Matrix float8_quantize(const at::Tensor& x, at::ScalarType type, bool by_row,
                             bool transposed);

/// The same of a whole weight in bf16, by ranks that hold fp32 shards of it. Each shard's
/// largest |x| in bf16, fp32 [n]; the largest over all ranks are the wholes'.
at::Tensor float8_largest(const std::vector<at::Tensor>& shards);
/// A shard in e4m3 with the scale of the whole, whose largest is largest[index].
Float8Matrix float8_cast(const at::Tensor& shard, const at::Tensor& largest, int64_t index);
/// xᵀ of one scale.
Float8Matrix float8_transpose(const Float8Matrix& x);

/// a·bᵀ of a [m, k] and b [n, k], bf16 [m, n], both scaled alike. `fast`: a GPU may sum in less
/// than fp32. Neither has a gradient: see model/linear.h.
at::Tensor float8_mm(const Float8Matrix& a, const Float8Matrix& b, bool fast);

/// silu(gate) · up, elementwise.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

/// Sum of −log softmax(logits)[label] over the rows whose label is not negative. logits [T, V],
/// labels int64 [T]; returns a 0-dimensional fp32 tensor. No fp32 copy of bf16 logits is made.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels);

/// Its two halves, which have no gradient: the sum and logsumexp [T], fp32; and the gradient of the
/// logits, of their dtype, from the sum's gradient, fp32 without dimensions.
std::tuple<at::Tensor, at::Tensor> cross_entropy_forward(const at::Tensor& logits,
                                                         const at::Tensor& labels);
at::Tensor cross_entropy_backward(const at::Tensor& dloss, const at::Tensor& logits,
                                  const at::Tensor& labels, const at::Tensor& logsumexp);

/// The three steps of a cross-entropy whose logits' columns are spread over ranks (tensor
/// parallelism); see parallel/vocabulary.h. Each rank: logits [T, n], labels [T], begin int64 →
/// fp32 [T, 3].
at::Tensor vocabulary_statistics(const at::Tensor& logits, const at::Tensor& labels,
                                 const at::Tensor& begin, int64_t vocabulary);
/// All ranks' numbers [ranks · T, 3] → the loss as `cross_entropy` gives it, and logsumexp [T].
std::tuple<at::Tensor, at::Tensor> joined_cross_entropy(const at::Tensor& numbers,
                                                        const at::Tensor& labels);
at::Tensor vocabulary_cross_entropy_backward(const at::Tensor& dloss, const at::Tensor& logits,
                                             const at::Tensor& labels, const at::Tensor& begin,
                                             const at::Tensor& logsumexp, int64_t vocabulary);

/// sum += value, in place; sum fp32, value fp32 or bf16.
void accumulate_(at::Tensor sum, const at::Tensor& value);

/// The sum of the squares of each tensor's elements: fp64, no dimension.
std::vector<at::Tensor> squared_norms(const std::vector<at::Tensor>& tensors);

/// The square of the norm over all tensors: the sum of their `squared_norms`, in the list's order.
at::Tensor total_norm(const std::vector<at::Tensor>& squared_norms);

/// min(1, max_norm / (norm + 1e-6)), 1 where max_norm is 0, and 0 where the norm is not finite,
/// which makes the update a no-op.
at::Tensor clip_factor(const at::Tensor& norm, double max_norm);

}  // namespace heddle::kernels
