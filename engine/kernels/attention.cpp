// Causal attention in blocks of query rows: a block's scores against all keys up to its last row
// fit the cache, and what lies above the diagonal is never computed. No kv head is copied for its
// query heads. Matrix products by LibTorch, which uses the machine's BLAS. bf16 is computed in
// fp32.
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, double);
using Backward = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&,
                                                    const Tensor&, const Tensor&, const Tensor&,
                                                    double);

constexpr int64_t kRows = kAttentionRows;

// Rows of a matrix that lies inside a tensor, `stride` apart.
struct Matrix {
  float* data;
  int64_t stride;

  Matrix from_row(int64_t row) const { return {data + row * stride, stride}; }
  Tensor view(int64_t rows, int64_t columns) const {
    return at::from_blob(data, {rows, columns}, {stride, 1});
  }
  Tensor transposed(int64_t rows, int64_t columns) const {
    return at::from_blob(data, {columns, rows}, {1, stride});
  }
};

// One head of x [B, S, H, D], fp32 and contiguous: [S, D].
Matrix head_of(const Tensor& x, int64_t b, int64_t head) {
  const int64_t stride = x.size(2) * x.size(3);
  return {const_cast<float*>(x.const_data_ptr<float>()) + b * x.size(1) * stride + head * x.size(3),
          stride};
}

// c = alpha · a · b + beta · c; where beta is 0, c may hold anything.
void multiply(Tensor c, const Tensor& a, const Tensor& b, double alpha, double beta) {
  at::cpu::addmm_out(c, c, a, b, beta, alpha);
}

// Softmax over the first n of m scores, in place; the rest becomes 0. Returns their logsumexp.
HEDDLE_VECTORIZED
float softmax_row(float* x, int64_t n, int64_t m) {
  float top = x[0];
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    x[i] = vector_exp(x[i] - top);
    sum += x[i];
  }
  const float factor = 1.0F / sum;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
  std::fill(x + n, x + m, 0.0F);
  return top + std::log(sum);
}

HEDDLE_VECTORIZED
float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The first n of m: scores → p = e^(score − logsumexp), dp → ds = p·(dp − delta)·scale; the rest 0.
HEDDLE_VECTORIZED
void softmax_backward_row(float* p, float* dp, float logsumexp, float delta, float scale, int64_t n,
                          int64_t m) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    p[i] = vector_exp(p[i] - logsumexp);
    dp[i] = p[i] * (dp[i] - delta) * scale;
  }
  std::fill(p + n, p + m, 0.0F);
  std::fill(dp + n, dp + m, 0.0F);
}

void check(const Tensor& q, const Tensor& k, const Tensor& v) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && k.sizes() == v.sizes() && q.size(0) == k.size(0) &&
                  q.size(1) == k.size(1) && q.size(3) == k.size(3) && k.size(2) > 0 &&
                  q.size(2) % k.size(2) == 0,
              "attention takes q [B, S, H, D] and k, v [B, S, K, D] with K dividing H, not ",
              q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  check_type(q, "attention's q");
  TORCH_CHECK(k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type(),
              "attention takes q, k and v of one type, not ", q.scalar_type(), ", ",
              k.scalar_type(), " and ", v.scalar_type());
}

std::tuple<Tensor, Tensor> forward_cpu(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                       double scale) {
  check(q_in, k_in, v_in);
  const Tensor q = q_in.to(at::kFloat).contiguous(), k = k_in.to(at::kFloat).contiguous(),
               v = v_in.to(at::kFloat).contiguous();
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  const int64_t group = heads / k.size(2);
  Tensor out = at::empty_like(q), logsumexp = at::empty({batch, heads, s}, at::kFloat);
  Tensor scratch = at::empty({at::get_num_threads(), kRows * s}, at::kFloat);
  at::parallel_for(0, batch * heads, 1, [&](int64_t begin, int64_t end) {
    float* p = scratch.mutable_data_ptr<float>() + at::get_thread_num() * kRows * s;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / heads, h = task % heads;
      const Matrix queries = head_of(q, b, h), keys = head_of(k, b, h / group),
                   values = head_of(v, b, h / group), results = head_of(out, b, h);
      float* lse = logsumexp.mutable_data_ptr<float>() + task * s;
      for (int64_t row = 0; row < s; row += kRows) {
        const int64_t rows = std::min(kRows, s - row), n = row + rows;
        const Tensor scores = Matrix{p, n}.view(rows, n);
        multiply(scores, queries.from_row(row).view(rows, d), keys.transposed(n, d), scale, 0.0);
        for (int64_t r = 0; r < rows; ++r) lse[row + r] = softmax_row(p + r * n, row + r + 1, n);
        multiply(results.from_row(row).view(rows, d), scores, values.view(n, d), 1.0, 0.0);
      }
    }
  });
  return {out.to(q_in.scalar_type()), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> backward_cpu(const Tensor& dout_in, const Tensor& q_in,
                                                const Tensor& k_in, const Tensor& v_in,
                                                const Tensor& out_in, const Tensor& logsumexp_in,
                                                double scale) {
  check(q_in, k_in, v_in);
  TORCH_CHECK(dout_in.sizes() == q_in.sizes() && out_in.sizes() == q_in.sizes(),
              "attention_backward takes dout and out of q's shape, not ", dout_in.sizes(), " and ",
              out_in.sizes());
  const Tensor q = q_in.to(at::kFloat).contiguous(), k = k_in.to(at::kFloat).contiguous(),
               v = v_in.to(at::kFloat).contiguous(), dout = dout_in.to(at::kFloat).contiguous(),
               out = out_in.to(at::kFloat).contiguous(), logsumexp = logsumexp_in.contiguous();
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  const int64_t kv_heads = k.size(2), group = heads / kv_heads;
  Tensor dq = at::empty_like(q), dk = at::zeros_like(k), dv = at::zeros_like(v);
  Tensor scratch = at::empty({at::get_num_threads(), 2 * kRows * s}, at::kFloat);
  // A task is a kv head, whose gradients its query heads add up in order: the result does not
  // depend on the threads.
  at::parallel_for(0, batch * kv_heads, 1, [&](int64_t begin, int64_t end) {
    float* p = scratch.mutable_data_ptr<float>() + at::get_thread_num() * 2 * kRows * s;
    float* dp = p + kRows * s;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / kv_heads, kv = task % kv_heads;
      const Matrix keys = head_of(k, b, kv), values = head_of(v, b, kv), dkeys = head_of(dk, b, kv),
                   dvalues = head_of(dv, b, kv);
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
        const Matrix queries = head_of(q, b, h), dqueries = head_of(dq, b, h),
                     results = head_of(out, b, h), dresults = head_of(dout, b, h);
        const float* lse = logsumexp.const_data_ptr<float>() + (b * heads + h) * s;
        for (int64_t row = 0; row < s; row += kRows) {
          const int64_t rows = std::min(kRows, s - row), n = row + rows;
          const Tensor q_block = queries.from_row(row).view(rows, d),
                       dout_block = dresults.from_row(row).view(rows, d);
          const Tensor scores = Matrix{p, n}.view(rows, n), ds = Matrix{dp, n}.view(rows, n);
          multiply(scores, q_block, keys.transposed(n, d), scale, 0.0);
          multiply(ds, dout_block, values.transposed(n, d), 1.0, 0.0);
          for (int64_t r = 0; r < rows; ++r)
            softmax_backward_row(
                p + r * n, dp + r * n, lse[row + r],
                dot(dresults.from_row(row + r).data, results.from_row(row + r).data, d),
                static_cast<float>(scale), row + r + 1, n);
          multiply(dvalues.view(n, d), Matrix{p, n}.transposed(rows, n), dout_block, 1.0, 1.0);
          multiply(dqueries.from_row(row).view(rows, d), ds, keys.view(n, d), 1.0, 0.0);
          multiply(dkeys.view(n, d), Matrix{dp, n}.transposed(rows, n), q_block, 1.0, 1.0);
        }
      }
    }
  });
  const c10::ScalarType type = q_in.scalar_type();
  return {dq.to(type), dk.to(type), dv.to(type)};
}

std::tuple<Tensor, Tensor> forward_meta(const Tensor& q, const Tensor& k, const Tensor& v, double) {
  check(q, k, v);
  return {at::empty_like(q, at::MemoryFormat::Contiguous),
          at::empty({q.size(0), q.size(2), q.size(1)}, q.options().dtype(at::kFloat))};
}

std::tuple<Tensor, Tensor, Tensor> backward_meta(const Tensor&, const Tensor& q, const Tensor& k,
                                                 const Tensor& v, const Tensor&, const Tensor&,
                                                 double) {
  check(q, k, v);
  constexpr auto contiguous = at::MemoryFormat::Contiguous;
  return {at::empty_like(q, contiguous), at::empty_like(k, contiguous),
          at::empty_like(v, contiguous)};
}

struct Attention : torch::autograd::Function<Attention> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k,
                        const Tensor& v, double scale) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Forward>("heddle::attention");
    auto [out, logsumexp] = op.call(q, k, v, scale);
    context->save_for_backward({q, k, v, out, logsumexp});
    context->saved_data["scale"] = scale;
    return out;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Backward>("heddle::attention_backward");
    const auto saved = context->get_saved_variables();
    auto [dq, dk, dv] = op.call(grads[0], saved[0], saved[1], saved[2], saved[3], saved[4],
                                context->saved_data["scale"].toDouble());
    return {dq, dk, dv, {}};
  }
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("attention(Tensor q, Tensor k, Tensor v, float scale) -> (Tensor, Tensor)");
  library.def(
      "attention_backward(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor logsumexp, "
      "float scale) -> (Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("attention", &forward_cpu);
  library.impl("attention_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("attention", &forward_meta);
  library.impl("attention_backward", &backward_meta);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return Attention::apply(q, k, v, scale);
}

}  // namespace heddle::kernels
