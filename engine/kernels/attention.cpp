// Attention in blocks of query rows: a block's scores against the keys that one of its rows sees
// fit the cache, and what none of them sees is never computed. Long rows are scored a part of the
// keys at a time. No kv head is copied for its query heads, and no mask is made. Matrix products by
// LibTorch, which uses the machine's BLAS. bf16 is computed in fp32.
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "engine/kernels/attention_scratch.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"
#include "engine/kernels/sight_numbers.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&,
                                           const Optional&, const Optional&, const Optional&,
                                           const Optional&, double);
using Backward = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&,
                                                    const Tensor&, const Tensor&, const Tensor&,
                                                    const Optional&, const Optional&,
                                                    const Optional&, const Optional&, double);

// Query rows that are scored at a time: fastest of 32 to 256 at 512 and at 2,048 tokens.
constexpr int64_t kRows = kSightRows;
// Keys that they are scored against at a time.
constexpr int64_t kColumns = 8192;

// Rows of a matrix inside a tensor, `stride` apart.
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

HEDDLE_VECTORIZED
float largest(const float* x, int64_t n) {
  float top = x[0];
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

// x → e^(x − top); returns the sum.
HEDDLE_VECTORIZED
float exponentials(float* x, float top, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    x[i] = vector_exp(x[i] - top);
    sum += x[i];
  }
  return sum;
}

HEDDLE_VECTORIZED
void multiply_row(float* x, float factor, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

HEDDLE_VECTORIZED
float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// scores → p = e^(score − logsumexp), dp → ds = p·(dp − delta)·scale.
HEDDLE_VECTORIZED
void softmax_backward_row(float* p, float* dp, float logsumexp, float delta, float scale,
                          int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    p[i] = vector_exp(p[i] - logsumexp);
    dp[i] = p[i] * (dp[i] - delta) * scale;
  }
}

int64_t width_of(const std::vector<Segment>& segments) {
  return segments.empty() ? 0 : segments.back().columns.end;
}

// Calls `visit(columns)` for what the row sees.
template <typename Visit>
void for_each_seen(const Sight& sight, int64_t b, int64_t row, const std::vector<Segment>& segments,
                   Visit&& visit) {
  for (const Segment& segment : segments) {
    const Columns seen = sight.columns(b, row, segment);
    if (seen.count() > 0) visit(seen);
  }
}

void clear_unseen(const Sight& sight, int64_t b, int64_t row, const std::vector<Segment>& segments,
                  float* x) {
  for (const Segment& segment : segments) {
    const Columns seen = sight.columns(b, row, segment);
    const bool any = seen.count() > 0;
    std::fill(x + segment.columns.begin, x + (any ? seen.begin : segment.columns.end), 0.0F);
    if (any) std::fill(x + seen.end, x + segment.columns.end, 0.0F);
  }
}

void multiply_seen(const Sight& sight, int64_t b, int64_t row, const std::vector<Segment>& segments,
                   float* x, float factor) {
  for_each_seen(sight, b, row, segments,
                [&](Columns seen) { multiply_row(x + seen.begin, factor, seen.count()); });
}

// Scores → probabilities, in place; returns their logsumexp, −∞ where the row sees nothing.
float softmax_row(const Sight& sight, int64_t b, int64_t row, const std::vector<Segment>& segments,
                  float* x) {
  float top = -std::numeric_limits<float>::infinity(), sum = 0;
  for_each_seen(sight, b, row, segments,
                [&](Columns seen) { top = std::max(top, largest(x + seen.begin, seen.count())); });
  for_each_seen(sight, b, row, segments,
                [&](Columns seen) { sum += exponentials(x + seen.begin, top, seen.count()); });
  clear_unseen(sight, b, row, segments, x);
  if (sum == 0) return top;
  multiply_seen(sight, b, row, segments, x, 1.0F / sum);
  return top + std::log(sum);
}

// Where a row's probabilities over a part of the keys join those over the parts before it: both are
// weighed, the result so far too. Returns the logsumexp of all.
float join_parts(const Sight& sight, int64_t b, int64_t row, const std::vector<Segment>& segments,
                 float* x, float part, float* result, float before, int64_t d) {
  if (std::isinf(part)) return before;
  const float top = std::max(before, part);
  const float whole = top + std::log(std::exp(before - top) + std::exp(part - top));
  multiply_seen(sight, b, row, segments, x, std::exp(part - whole));
  multiply_row(result, std::exp(before - whole), d);
  return whole;
}

// Columns of a block of rows that are scored at a time.
int64_t most_columns(int64_t keys) { return std::min(keys, kColumns); }

void check(const Tensor& q, const Tensor& k, const Tensor& v) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && k.sizes() == v.sizes() && q.size(0) == k.size(0) &&
                  q.size(3) == k.size(3) && k.size(2) > 0 && q.size(2) % k.size(2) == 0,
              "attention takes q [B, S, H, D] and k, v [B, N, K, D] with K dividing H, not ",
              q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  check_type(q, "attention's q");
  TORCH_CHECK(k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type(),
              "attention takes q, k and v of one type, not ", q.scalar_type(), ", ",
              k.scalar_type(), " and ", v.scalar_type());
}

Sight sight_in(const Tensor& q, const Tensor& k, const Optional& first, const Optional& last,
               const Optional& starts, const Optional& numbers) {
  Optional seen;
  if (numbers)
    seen = SightNumbers({q.size(0), q.size(1), k.size(1), starts ? starts->numel() : 0})
               .seen(*numbers);
  return {q, k, first, last, starts, seen};
}

std::tuple<Tensor, Tensor> forward_cpu(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                       const Optional& first, const Optional& last,
                                       const Optional& starts, const Optional& numbers,
                                       double scale) {
  check(q_in, k_in, v_in);
  const Sight sight = sight_in(q_in, k_in, first, last, starts, numbers);
  const Tensor q = q_in.to(at::kFloat).contiguous(), k = k_in.to(at::kFloat).contiguous(),
               v = v_in.to(at::kFloat).contiguous();
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  const int64_t group = heads / k.size(2), most = kRows * most_columns(k.size(1));
  Tensor out = at::empty_like(q), logsumexp = at::empty({batch, heads, s}, at::kFloat);
  Tensor scratch = at::empty({at::get_num_threads(), most}, at::kFloat);
  at::parallel_for(0, batch * heads, 1, [&](int64_t begin, int64_t end) {
    float* p = scratch.mutable_data_ptr<float>() + at::get_thread_num() * most;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / heads, h = task % heads;
      const Matrix queries = head_of(q, b, h), keys = head_of(k, b, h / group),
                   values = head_of(v, b, h / group), results = head_of(out, b, h);
      float* lse = logsumexp.mutable_data_ptr<float>() + task * s;
      for (int64_t row = 0; row < s; row += kRows) {
        const int64_t rows = std::min(kRows, s - row);
        const std::vector<std::vector<Segment>> parts =
            sight.parts(b, row, most_columns(k.size(1)));
        const Tensor block = queries.from_row(row).view(rows, d),
                     result = results.from_row(row).view(rows, d);
        if (parts.empty()) {
          result.zero_();
          std::fill_n(lse + row, rows, -std::numeric_limits<float>::infinity());
        }
        for (const std::vector<Segment>& segments : parts) {
          const bool is_first = &segments == &parts.front();
          const int64_t n = width_of(segments);
          for (const auto& [key, columns] : segments)
            multiply(Matrix{p + columns.begin, n}.view(rows, columns.count()), block,
                     keys.from_row(key).transposed(columns.count(), d), scale, 0.0);
          for (int64_t r = 0; r < rows; ++r) {
            const float part = softmax_row(sight, b, row + r, segments, p + r * n);
            lse[row + r] = is_first ? part
                                    : join_parts(sight, b, row + r, segments, p + r * n, part,
                                                 results.from_row(row + r).data, lse[row + r], d);
          }
          for (const auto& [key, columns] : segments)
            multiply(result, Matrix{p + columns.begin, n}.view(rows, columns.count()),
                     values.from_row(key).view(columns.count(), d), 1.0,
                     is_first && columns.begin == 0 ? 0.0 : 1.0);
        }
      }
    }
  });
  return {out.to(q_in.scalar_type()), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> backward_cpu(const Tensor& dout_in, const Tensor& q_in,
                                                const Tensor& k_in, const Tensor& v_in,
                                                const Tensor& out_in, const Tensor& logsumexp_in,
                                                const Optional& first, const Optional& last,
                                                const Optional& starts, const Optional& numbers,
                                                double scale) {
  check(q_in, k_in, v_in);
  TORCH_CHECK(dout_in.sizes() == q_in.sizes() && out_in.sizes() == q_in.sizes(),
              "attention_backward takes dout and out of q's shape, not ", dout_in.sizes(), " and ",
              out_in.sizes());
  const Sight sight = sight_in(q_in, k_in, first, last, starts, numbers);
  const Tensor q = q_in.to(at::kFloat).contiguous(), k = k_in.to(at::kFloat).contiguous(),
               v = v_in.to(at::kFloat).contiguous(), dout = dout_in.to(at::kFloat).contiguous(),
               out = out_in.to(at::kFloat).contiguous(), logsumexp = logsumexp_in.contiguous();
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  const int64_t kv_heads = k.size(2), group = heads / kv_heads,
                most = kRows * most_columns(k.size(1));
  Tensor dq = at::empty_like(q), dk = at::zeros_like(k), dv = at::zeros_like(v);
  Tensor scratch = at::empty({at::get_num_threads(), 2 * most}, at::kFloat);
  // A task is a kv head, whose gradients its query heads add up in order: the result does not
  // depend on the threads.
  at::parallel_for(0, batch * kv_heads, 1, [&](int64_t begin, int64_t end) {
    float* p = scratch.mutable_data_ptr<float>() + at::get_thread_num() * 2 * most;
    float* dp = p + most;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / kv_heads, kv = task % kv_heads;
      const Matrix keys = head_of(k, b, kv), values = head_of(v, b, kv), dkeys = head_of(dk, b, kv),
                   dvalues = head_of(dv, b, kv);
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
        const Matrix queries = head_of(q, b, h), dqueries = head_of(dq, b, h),
                     results = head_of(out, b, h), dresults = head_of(dout, b, h);
        const float* lse = logsumexp.const_data_ptr<float>() + (b * heads + h) * s;
        for (int64_t row = 0; row < s; row += kRows) {
          const int64_t rows = std::min(kRows, s - row);
          const Tensor q_block = queries.from_row(row).view(rows, d),
                       dout_block = dresults.from_row(row).view(rows, d),
                       dq_block = dqueries.from_row(row).view(rows, d);
          const std::vector<std::vector<Segment>> parts =
              sight.parts(b, row, most_columns(k.size(1)));
          if (parts.empty()) dq_block.zero_();
          for (const std::vector<Segment>& segments : parts) {
            const bool is_first = &segments == &parts.front();
            const int64_t n = width_of(segments);
            for (const auto& [key, columns] : segments) {
              const int64_t count = columns.count();
              multiply(Matrix{p + columns.begin, n}.view(rows, count), q_block,
                       keys.from_row(key).transposed(count, d), scale, 0.0);
              multiply(Matrix{dp + columns.begin, n}.view(rows, count), dout_block,
                       values.from_row(key).transposed(count, d), 1.0, 0.0);
            }
            for (int64_t r = 0; r < rows; ++r) {
              const float delta =
                  dot(dresults.from_row(row + r).data, results.from_row(row + r).data, d);
              for_each_seen(sight, b, row + r, segments, [&](Columns seen) {
                softmax_backward_row(p + r * n + seen.begin, dp + r * n + seen.begin, lse[row + r],
                                     delta, static_cast<float>(scale), seen.count());
              });
              clear_unseen(sight, b, row + r, segments, p + r * n);
              clear_unseen(sight, b, row + r, segments, dp + r * n);
            }
            for (const auto& [key, columns] : segments) {
              const int64_t count = columns.count();
              const Matrix probabilities{p + columns.begin, n}, dscores{dp + columns.begin, n};
              multiply(dvalues.from_row(key).view(count, d), probabilities.transposed(rows, count),
                       dout_block, 1.0, 1.0);
              multiply(dq_block, dscores.view(rows, count), keys.from_row(key).view(count, d), 1.0,
                       is_first && columns.begin == 0 ? 0.0 : 1.0);
              multiply(dkeys.from_row(key).view(count, d), dscores.transposed(rows, count), q_block,
                       1.0, 1.0);
            }
          }
        }
      }
    }
  });
  const c10::ScalarType type = q_in.scalar_type();
  return {dq.to(type), dk.to(type), dv.to(type)};
}

std::tuple<Tensor, Tensor> forward_meta(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Optional&, const Optional&, const Optional&,
                                        const Optional&, double) {
  check(q, k, v);
  return {at::empty_like(q, at::MemoryFormat::Contiguous),
          at::empty({q.size(0), q.size(2), q.size(1)}, q.options().dtype(at::kFloat))};
}

std::tuple<Tensor, Tensor, Tensor> backward_meta(const Tensor&, const Tensor& q, const Tensor& k,
                                                 const Tensor& v, const Tensor&, const Tensor&,
                                                 const Optional&, const Optional&, const Optional&,
                                                 const Optional&, double) {
  check(q, k, v);
  constexpr auto contiguous = at::MemoryFormat::Contiguous;
  return {at::empty_like(q, contiguous), at::empty_like(k, contiguous),
          at::empty_like(v, contiguous)};
}

struct Attention : torch::autograd::Function<Attention> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Optional& first, const Optional& last,
                        const Optional& starts, const Optional& sight, double scale) {
    at::AutoDispatchBelowADInplaceOrView below;
    auto [out, logsumexp] = attention_part(q, k, v, {first, last, starts, sight}, scale);
    const auto or_none = [](const Optional& tensor) { return tensor.value_or(Tensor()); };
    context->save_for_backward(
        {q, k, v, out, logsumexp, or_none(first), or_none(last), or_none(starts), or_none(sight)});
    context->saved_data["scale"] = scale;
    return out;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto if_any = [](const Tensor& tensor) {
      return tensor.defined() ? Optional(tensor) : std::nullopt;
    };
    auto [dq, dk, dv] = attention_part_backward(
        grads[0], saved[0], saved[1], saved[2], saved[3], saved[4],
        {if_any(saved[5]), if_any(saved[6]), if_any(saved[7]), if_any(saved[8])},
        context->saved_data["scale"].toDouble());
    return {dq, dk, dv, {}, {}, {}, {}, {}};
  }
};

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::Workplace;

// q [B, S, H, D], k [B, N, K, D]: two products of S × N × D a head, half of it unseen.
template <size_t Q>
double products(const Graph& graph, const Node& node) {
  const graph::Sizes q = graph::argument(graph, node, Q).sizes,
                     k = graph::argument(graph, node, Q + 1).sizes;
  return 2.0 * static_cast<double>(q[0]) * static_cast<double>(q[1]) * static_cast<double>(k[1]) *
         static_cast<double>(q[2]) * static_cast<double>(q[3]);
}

// Makes the scores again and has four products more (arXiv 2205.14135).
double backward_flops(const Graph& graph, const Node& node) {
  return 2.5 * products<1>(graph, node);
}

template <size_t Q>
std::array<int64_t, 3> rate_shape(const Graph& graph, const Node& node) {
  const graph::Sizes q = graph::argument(graph, node, Q).sizes;
  return {q[0] * q[2], q[1], q[3]};
}

// q is the Q-th argument, k and v follow; ranges, `starts` and sight come before the scale.
template <size_t Q>
AttentionSizes sizes_of(const Graph& graph, const Node& node) {
  const Value &q = graph::argument(graph, node, Q), &k = graph::argument(graph, node, Q + 1);
  const auto given = [&](size_t i) {
    const auto* use = std::get_if<graph::Use>(&node.args[i]);
    return use && use->value != graph::kNoValue ? &graph.values[use->value] : nullptr;
  };
  const size_t scale = node.args.size() - 1;
  const Value* starts = given(scale - 2);
  return {.type = q.dtype,
          .batch = q.sizes[0],
          .queries = q.sizes[1],
          .keys = k.sizes[1],
          .heads = q.sizes[2],
          .kv_heads = k.sizes[2],
          .head_dim = q.sizes[3],
          .ranges = given(scale - 4) != nullptr,
          .pieces = starts ? starts->sizes[0] : 0};
}

// A block of score rows for each thread, and fp32 copies of what is bf16.
int64_t forward_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  const Value &q = graph::argument(graph, node, 0), &k = graph::argument(graph, node, 1);
  const int64_t copies = contiguous_copies(graph, node);
  if (place.gpu) return copies + gpu_forward_scratch(sizes_of<0>(graph, node));
  return copies + aligned(place.threads * kRows * most_columns(k.sizes[1]) * 4) +
         (converts(q) ? 2 * float_bytes(q) + 2 * float_bytes(k) : 0);
}

// Two blocks of score rows for each thread; fp32 copies of q, dout, out, dq, and of k, v, dk, dv.
int64_t backward_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  const Value &q = graph::argument(graph, node, 1), &k = graph::argument(graph, node, 2);
  const int64_t copies = contiguous_copies(graph, node);
  if (place.gpu) {
    AttentionSizes sizes = sizes_of<1>(graph, node);
    sizes.in_order_on = place.in_order_on;
    return copies + gpu_backward_scratch(sizes);
  }
  return copies + aligned(2 * place.threads * kRows * most_columns(k.sizes[1]) * 4) +
         (converts(q) ? 4 * float_bytes(q) + 4 * float_bytes(k) : 0);
}

const graph::OperatorEntries entries = {
    {"heddle.attention",
     {.selective = graph::Selective::kept,
      .flops = &products<0>,
      .arithmetic = graph::Arithmetic::attention,
      .rate_shape = &rate_shape<0>,
      .scratch = &forward_scratch}},
    {"heddle.attention_backward",
     {.flops = &backward_flops,
      .arithmetic = graph::Arithmetic::attention_backward,
      .rate_shape = &rate_shape<1>,
      .kernels = 3,  // the rows' sums of dout · out, the gradients, q's in bf16
      .scratch = &backward_scratch}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "attention(Tensor q, Tensor k, Tensor v, Tensor? first_key, Tensor? last_key, Tensor? "
      "key_starts, Tensor? sight, float scale) -> (Tensor, Tensor)");
  library.def(
      "attention_backward(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor logsumexp, "
      "Tensor? first_key, Tensor? last_key, Tensor? key_starts, Tensor? sight, float scale) -> "
      "(Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("attention", &forward_cpu);
  library.impl("attention_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("attention", &forward_meta);
  library.impl("attention_backward", &backward_meta);
}

std::tuple<Tensor, Tensor> attention_part(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Keys& keys, double scale) {
  static const auto op = find<Forward>("heddle::attention");
  return op.call(q, k, v, keys.first, keys.last, keys.starts, keys.sight, scale);
}

std::tuple<Tensor, Tensor, Tensor> attention_part_backward(const Tensor& dout, const Tensor& q,
                                                           const Tensor& k, const Tensor& v,
                                                           const Tensor& out,
                                                           const Tensor& logsumexp,
                                                           const Keys& keys, double scale) {
  static const auto op = find<Backward>("heddle::attention_backward");
  return op.call(dout, q, k, v, out, logsumexp, keys.first, keys.last, keys.starts, keys.sight,
                 scale);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale,
                 const Keys& keys) {
  return Attention::apply(q, k, v, keys.first, keys.last, keys.starts, keys.sight, scale);
}

}  // namespace heddle::kernels
