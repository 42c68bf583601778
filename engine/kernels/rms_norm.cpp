#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/list_blocks.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using Two = std::tuple<at::Tensor, at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Forward = Two(const at::Tensor&, const at::Tensor&, double);
using Backward = Two(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&);

// Rows that backward sums into one partial sum; these are added in order: the result does not
// depend on the threads.
constexpr int64_t kBlock = 64;

template <typename T>
HEDDLE_VECTORIZED void forward_row(const T* x, const float* weight, T* y, float* rstd, int64_t n,
                                   double eps) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += load(x + i) * load(x + i);
  const float r =
      static_cast<float>(1.0 / std::sqrt(static_cast<double>(sum) / static_cast<double>(n) + eps));
  *rstd = r;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(y + i, load(x + i) * r * weight[i]);
}

// dx = r·(w·dy − x·r²·mean(w·dy·x)); dw += dy·x·r
template <typename T>
HEDDLE_VECTORIZED void backward_row(const T* dy, const T* x, const float* weight, float r, T* dx,
                                    float* dw, int64_t n) {
  float dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t i = 0; i < n; ++i) dot += load(dy + i) * weight[i] * load(x + i);
  const float c = dot * r * r / static_cast<float>(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float d = load(dy + i), v = load(x + i);
    store(dx + i, r * (d * weight[i] - v * c));
    dw[i] += d * v * r;
  }
}

template <typename T>
HEDDLE_VECTORIZED void add_row(const T* a, const T* b, T* sum, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(sum + i, load(a + i) + load(b + i));
}

void check(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 1 && weight.size(0) == x.size(1),
              "rms_norm takes x [T, dim] and weight [dim], not ", x.sizes(), " and ",
              weight.sizes());
  check_type(x, "rms_norm's x");
  check_type(weight, "rms_norm's weight");
}

void check_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight) {
  check(x, weight);
  TORCH_CHECK(dy.sizes() == x.sizes() && dy.scalar_type() == x.scalar_type(),
              "rms_norm_backward takes dy like x, not ", dy.scalar_type(), " ", dy.sizes(), " and ",
              x.scalar_type(), " ", x.sizes());
}

// The norm of x, or of the sum of x and `other`, which comes third: the norm reads it while it is
// still in the cache.
Three forward_rows(const at::Tensor& x, const at::Tensor* other, const at::Tensor& weight_in,
                   double eps) {
  const at::Tensor weight = weight_in.to(at::kFloat).contiguous();
  const int64_t rows = x.size(0), n = x.size(1);
  at::Tensor y = at::empty_like(x), rstd = at::empty({rows}, at::kFloat);
  const at::Tensor sum = other ? at::empty_like(x) : x;
  by_type(x, [&]<typename T>(T) {
    at::parallel_for(0, rows, grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        prefetch(x.const_data_ptr<T>() + (r + 2) * n, n);
        prefetch(y.mutable_data_ptr<T>() + (r + 2) * n, n);
        if (other) {
          prefetch(other->const_data_ptr<T>() + (r + 2) * n, n);
          prefetch(sum.mutable_data_ptr<T>() + (r + 2) * n, n);
          add_row(x.const_data_ptr<T>() + r * n, other->const_data_ptr<T>() + r * n,
                  sum.mutable_data_ptr<T>() + r * n, n);
        }
        forward_row(sum.const_data_ptr<T>() + r * n, weight.const_data_ptr<float>(),
                    y.mutable_data_ptr<T>() + r * n, rstd.mutable_data_ptr<float>() + r, n, eps);
      }
    });
  });
  return {y, rstd, sum};
}

// dx, or the sum of dx and `other`, and dweight.
Two backward_rows(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight_in,
                  const at::Tensor& rstd, const at::Tensor* other) {
  const at::Tensor weight = weight_in.to(at::kFloat).contiguous();
  const int64_t rows = x.size(0), n = x.size(1);
  at::Tensor dx = at::empty_like(x);
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  at::Tensor partial = at::zeros({blocks, n}, at::kFloat);
  by_type(x, [&]<typename T>(T) {
    at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        for (int64_t r = block * kBlock; r < std::min(rows, (block + 1) * kBlock); ++r) {
          prefetch(dy.const_data_ptr<T>() + (r + 2) * n, n);
          prefetch(x.const_data_ptr<T>() + (r + 2) * n, n);
          if (other) prefetch(other->const_data_ptr<T>() + (r + 2) * n, n);
          T* const dx_row = dx.mutable_data_ptr<T>() + r * n;
          backward_row(dy.const_data_ptr<T>() + r * n, x.const_data_ptr<T>() + r * n,
                       weight.const_data_ptr<float>(), rstd.const_data_ptr<float>()[r], dx_row,
                       partial.mutable_data_ptr<float>() + block * n, n);
          if (other) add_row(other->const_data_ptr<T>() + r * n, dx_row, dx_row, n);
        }
    });
  });
  return {dx, partial.sum(0).to(weight_in.scalar_type())};
}

Two forward_cpu(const at::Tensor& x, const at::Tensor& weight, double eps) {
  check(x, weight);
  auto [y, rstd, sum] = forward_rows(x.contiguous(), nullptr, weight, eps);
  return {y, rstd};
}

Two backward_cpu(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                 const at::Tensor& rstd) {
  check_backward(dy, x, weight);
  return backward_rows(dy.contiguous(), x.contiguous(), weight, rstd, nullptr);
}

// With the sum before it, or after backward: as two operators, which is all that a device without a
// kernel of its own has.
Three add_then_norm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight,
                    double eps) {
  static const auto op = find<Forward>("heddle::rms_norm");
  const at::Tensor sum = at::add(a, b);
  auto [y, rstd] = op.call(sum, weight, eps);
  return {y, rstd, sum};
}

Two norm_backward_then_add(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                           const at::Tensor& rstd, const at::Tensor& other) {
  static const auto op = find<Backward>("heddle::rms_norm_backward");
  auto [dx, dweight] = op.call(dy, x, weight, rstd);
  return {at::add(other, dx), dweight};
}

bool adds_rows(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.is_contiguous() &&
         b.is_contiguous();
}

Three add_norm_cpu(const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight, double eps) {
  check(a, weight);
  return adds_rows(a, b) ? forward_rows(a, &b, weight, eps) : add_then_norm(a, b, weight, eps);
}

Two norm_backward_add_cpu(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                          const at::Tensor& rstd, const at::Tensor& other) {
  check_backward(dy, x, weight);
  return adds_rows(x, other) ? backward_rows(dy.contiguous(), x, weight, rstd, &other)
                             : norm_backward_then_add(dy, x, weight, rstd, other);
}

Two forward_meta(const at::Tensor& x, const at::Tensor& weight, double) {
  check(x, weight);
  return {at::empty_like(x, at::MemoryFormat::Contiguous),
          at::empty({x.size(0)}, x.options().dtype(at::kFloat))};
}

Two backward_meta(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                  const at::Tensor&) {
  check_backward(dy, x, weight);
  return {at::empty_like(x, at::MemoryFormat::Contiguous), at::empty_like(weight)};
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight, double eps) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Forward>("heddle::rms_norm");
    auto [y, rstd] = op.call(x, weight, eps);
    context->save_for_backward({x, weight, rstd});
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Backward>("heddle::rms_norm_backward");
    const auto saved = context->get_saved_variables();
    auto [dx, dw] = op.call(grads[0], saved[0], saved[1], saved[2]);
    return {dx, dw, {}};
  }
};

using graph::Graph;
using graph::Node;
using graph::Workplace;

template <size_t Weight>
int64_t forward_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  const graph::Value& weight = graph::argument(graph, node, Weight);
  return contiguous_copies(graph, node) +
         (!place.gpu && converts(weight) ? float_bytes(weight) : 0);
}

int64_t backward_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  const graph::Value& x = graph::argument(graph, node, 1);
  const graph::Value& weight = graph::argument(graph, node, 2);
  const int64_t blocks =
      place.gpu ? cuda::norm_blocks(x.sizes[0]) : cuda::blocks_for(x.sizes[0], kBlock);
  const int64_t partial = aligned(blocks * x.sizes[1] * 4);
  return contiguous_copies(graph, node) + partial +
         (!place.gpu && converts(weight) ? 2 * float_bytes(weight) : 0);
}

const graph::OperatorEntries entries = {
    // To fp32 (r W), square (R W), mean (R), times its root (R W), to bf16 (R w), weight (r w): 36
    // bytes for 4; capitals are fp32.
    {"heddle.rms_norm",
     {.takes = {{0}}, .unfused = {.bytes = 9.0, .kernels = 7}, .scratch = &forward_scratch<1>}},
    // The same backwards, with two products and a sum more: about 60 for 8.
    {"heddle.rms_norm_backward",
     {.takes = {{0, 1}},
      .kernels = 2,
      .unfused = {.bytes = 7.5, .kernels = 11},
      .scratch = &backward_scratch}},
    // The sum (2 r w) before it: 42 bytes for 8.
    {"heddle.add_rms_norm",
     {.takes = {{0, 1}, {}, {1, 0}},
      .fuses = {.first = "aten.add.Tensor", .second = "heddle.rms_norm", .argument = 0},
      .unfused = {.bytes = 5.25, .kernels = 8},
      .scratch = &forward_scratch<2>}},
    // The sum after it: about 66 for 10. It writes dx before it reads what that is added to.
    {"heddle.rms_norm_backward_add",
     {.takes = {{0, 1}},
      .fuses = {.first = "heddle.rms_norm_backward", .second = "aten.add.Tensor", .argument = 1},
      .kernels = 2,
      .unfused = {.bytes = 6.6, .kernels = 12},
      .scratch = &backward_scratch}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("rms_norm(Tensor x, Tensor weight, float eps) -> (Tensor, Tensor)");
  library.def(
      "rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor rstd) -> (Tensor, Tensor)");
  library.def(
      "add_rms_norm(Tensor a, Tensor b, Tensor weight, float eps) -> (Tensor, Tensor, Tensor)");
  library.def(
      "rms_norm_backward_add(Tensor dy, Tensor x, Tensor weight, Tensor rstd, Tensor other) -> "
      "(Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("rms_norm", &forward_cpu);
  library.impl("rms_norm_backward", &backward_cpu);
  library.impl("add_rms_norm", &add_norm_cpu);
  library.impl("rms_norm_backward_add", &norm_backward_add_cpu);
}
TORCH_LIBRARY_IMPL(heddle, CompositeExplicitAutograd, library) {
  library.impl("add_rms_norm", &add_then_norm);
  library.impl("rms_norm_backward_add", &norm_backward_then_add);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("rms_norm", &forward_meta);
  library.impl("rms_norm_backward", &backward_meta);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return RmsNorm::apply(x, weight, eps);
}

}  // namespace heddle::kernels
