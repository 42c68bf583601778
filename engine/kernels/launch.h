// The CUDA kernels of this folder, as functions that put them in a stream. Shapes and meaning are
// as in operators.h; memory is contiguous. Errors are left for cudaGetLastError.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "engine/kernels/list_blocks.h"

namespace heddle::kernels::cuda {

/// An element's type.
enum class Type : uint8_t { fp32, bf16 };

/// x, y: `type` [rows, n]; weight: `weight_type` [n]; rstd fp32 [rows].
void rms_norm(Type type, Type weight_type, const void* x, const void* weight, void* y, float* rstd,
              int64_t rows, int64_t n, double eps, cudaStream_t stream);
/// `partial`: fp32 [norm_blocks(rows), n], of no meaning before and after.
void rms_norm_backward(Type type, Type weight_type, const void* dy, const void* x,
                       const void* weight, const float* rstd, void* dx, void* dweight,
                       float* partial, int64_t rows, int64_t n, cudaStream_t stream);
/// The norm of `sum`, which is made too: x and `other`, both `type` [rows, n].
void add_rms_norm(Type type, Type weight_type, const void* x, const void* other, const void* weight,
                  void* y, float* rstd, void* sum, int64_t rows, int64_t n, double eps,
                  cudaStream_t stream);
/// `other`, `type` [rows, n], is added to dx.
void rms_norm_backward_add(Type type, Type weight_type, const void* dy, const void* x,
                           const void* weight, const float* rstd, const void* other, void* dx,
                           void* dweight, float* partial, int64_t rows, int64_t n,
                           cudaStream_t stream);

/// x, y [tokens, heads, d]; table fp32 [table_rows, d/2, 2]; positions [tokens].
void rope(Type type, const void* x, const float* table, const int64_t* positions, void* y,
          int64_t tokens, int64_t heads, int64_t d, int64_t table_rows, bool inverse,
          cudaStream_t stream);

/// qkv and its gradient [tokens, (heads + 2 · kv_heads) · d]; q, dq [tokens, heads, d]; k, v, dk,
/// dv [tokens, kv_heads, d]; table and positions as above.
void joined_rope(Type type, const void* qkv, const float* table, const int64_t* positions, void* q,
                 void* k, void* v, int64_t tokens, int64_t heads, int64_t kv_heads, int64_t d,
                 int64_t table_rows, cudaStream_t stream);
void joined_rope_backward(Type type, const void* dq, const void* dk, const void* dv,
                          const float* table, const int64_t* positions, void* gradient,
                          int64_t tokens, int64_t heads, int64_t kv_heads, int64_t d,
                          int64_t table_rows, cudaStream_t stream);

/// The two results [tokens, heads, d], of sequences of s tokens, and their logsumexps [B, heads,
/// s].
void merge_attention(Type type, const void* a, const float* lse_a, const void* b,
                     const float* lse_b, void* out, float* logsumexp, int64_t tokens, int64_t s,
                     int64_t heads, int64_t d, cudaStream_t stream);

/// Makes the values NaN unless *valid.
void spoil_unless(const int32_t* valid, Type type, void* values, int64_t n, cudaStream_t stream);

/// Attention over sequences of s tokens; d is at most 256.
struct AttentionShape {
  int64_t tokens, s, heads, kv_heads, d;
  float scale;
};
/// Attention within the documents that share a segment, over what was made of the segment as if it
/// were one; nothing else is written. q, out [tokens, heads, d]; k, v [tokens, kv_heads, d]; first
/// [tokens]; found: see find_documents in documents.h; logsumexp fp32 [heads, tokens].
void short_documents(Type type, const AttentionShape& shape, const void* q, const void* k,
                     const void* v, const int64_t* first, const int32_t* found, void* out,
                     float* logsumexp, cudaStream_t stream);
/// The same of the gradients.
void short_documents_backward(Type type, const AttentionShape& shape, const void* dout,
                              const void* q, const void* k, const void* v, const void* out,
                              const float* logsumexp, const int64_t* first, const int32_t* found,
                              void* dq, void* dk, void* dv, cudaStream_t stream);

void swiglu(Type type, const void* gate, const void* up, void* out, int64_t n, cudaStream_t stream);
void swiglu_backward(Type type, const void* dout, const void* gate, const void* up, void* dgate,
                     void* dup, int64_t n, cudaStream_t stream);

/// gate_and_up, its gradient [rows, 2 · width]; out, dout [rows, width].
void joined_swiglu(Type type, const void* gate_and_up, void* out, int64_t rows, int64_t width,
                   cudaStream_t stream);
void joined_swiglu_backward(Type type, const void* dout, const void* gate_and_up, void* gradient,
                            int64_t rows, int64_t width, cudaStream_t stream);

/// logits [rows, n]; labels [rows]; loss fp32, one; logsumexp fp32 [rows].
void cross_entropy(Type type, const void* logits, const int64_t* labels, float* loss,
                   float* logsumexp, int64_t rows, int64_t n, cudaStream_t stream);
void cross_entropy_backward(Type type, const float* dloss, const void* logits,
                            const int64_t* labels, const float* logsumexp, void* dlogits,
                            int64_t rows, int64_t n, cudaStream_t stream);

/// logits [rows, width]; begin, one; numbers fp32 [rows, 3].
void vocabulary_statistics(Type type, const void* logits, const int64_t* labels,
                           const int64_t* begin, float* numbers, int64_t rows, int64_t width,
                           int64_t vocabulary, cudaStream_t stream);
/// numbers fp32 [ranks · rows, 3].
void joined_cross_entropy(const float* numbers, const int64_t* labels, float* loss,
                          float* logsumexp, int64_t rows, int64_t ranks, cudaStream_t stream);
void vocabulary_cross_entropy_backward(Type type, const float* dloss, const void* logits,
                                       const int64_t* labels, const int64_t* begin,
                                       const float* logsumexp, void* dlogits, int64_t rows,
                                       int64_t width, int64_t vocabulary, cudaStream_t stream);

/// Numbers of 8 bits.
enum class Float8 : uint8_t { e4m3, e5m2 };
/// x bf16 [rows, n]; values [rows, n], or [n, rows] where `transposed`; inverse_scale fp32, one or
/// as many as values has rows; `parts`: float8_parts(…) numbers, of no meaning before and after.
void float8_quantize(Float8 format, const void* x, void* values, float* inverse_scale,
                     unsigned* parts, int64_t rows, int64_t n, bool by_row, bool transposed,
                     cudaStream_t stream);

/// sum fp32 [n]; value [n].
void accumulate(Type type, float* sum, const void* value, int64_t n, cudaStream_t stream);

/// Tensors of a list, as many as one launch takes.
struct Inputs {
  const void* of[kListed];
};
struct Outputs {
  void* of[kListed];
};
struct Results {
  double* of[kListed];
};
/// results[i] = tensors[i] in the other type.
void cast_list(Type from, const ListBlocks& blocks, const Inputs& tensors, const Outputs& results,
               cudaStream_t stream);
/// largest[i] = the largest |x| of shards[i], which are fp32, in bf16; `parts`: one for each block
/// of `blocks`, of no meaning before and after.
void float8_largest(const ListBlocks& blocks, const Inputs& shards, unsigned* parts, float* largest,
                    cudaStream_t stream);
/// n numbers as e4m3, with the scale by which the largest, one number, is the largest of those.
void float8_cast(const float* shard, const float* largest, void* values, float* inverse_scale,
                 int64_t n, cudaStream_t stream);
/// x [rows, n], to [n, rows], of 8 bits.
void float8_transpose(const void* x, void* to, int64_t rows, int64_t n, cudaStream_t stream);
/// results[i] = Σ x² over tensors[i]; `partial`: fp64, one for each block of `blocks`, of no
/// meaning before and after.
void squared_norms(Type type, const ListBlocks& blocks, const Inputs& tensors,
                   const Results& results, double* partial, cudaStream_t stream);
/// total = (add ? total : 0) + their sum, in order.
void total_norm(const Inputs& squares, int count, double* total, bool add, cudaStream_t stream);
void clip_factor(const double* norm, double max_norm, float* factor, cudaStream_t stream);

/// The most states that an optimizer keeps for a parameter.
inline constexpr int kUpdateStates = 2;
/// Operands and settings of an optimizer's update, in the operator's order (update.h).
struct UpdateInputs {
  float *parameter[kListed], *state[kUpdateStates][kListed];
  const float* grad[kListed];
};
struct UpdateRates {
  const double* lr;
  const int64_t* step;
  const float* factor;
  double settings[4];
};
using Update = void(const ListBlocks& blocks, const UpdateInputs& tensors, const UpdateRates& rates,
                    cudaStream_t stream);
Update adamw, sgd;

}  // namespace heddle::kernels::cuda
