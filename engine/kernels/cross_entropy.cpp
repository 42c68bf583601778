#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&);
using Backward = Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&);

template <typename T>
HEDDLE_VECTORIZED float logsumexp_row(const T* x, int64_t n) {
  float top = load(x);
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = load(x + i) > top ? load(x + i) : top;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += vector_exp(load(x + i) - top);
  return top + std::log(sum);
}

template <typename T>
HEDDLE_VECTORIZED void softmax_row(const T* x, float logsumexp, float factor, T* out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(out + i, factor * vector_exp(load(x + i) - logsumexp));
}

void check(const Tensor& logits, const Tensor& labels) {
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0),
              "cross_entropy takes logits [T, V] and labels [T], not ", logits.sizes(), " and ",
              labels.sizes());
  check_type(logits, "cross_entropy's logits");
  TORCH_CHECK(labels.scalar_type() == at::kLong, "cross_entropy's labels must be int64, not ",
              labels.scalar_type());
}

std::tuple<Tensor, Tensor> forward_cpu(const Tensor& logits_in, const Tensor& labels_in) {
  check(logits_in, labels_in);
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  const int64_t rows = logits.size(0), n = logits.size(1);
  const int64_t* label = labels.const_data_ptr<int64_t>();
  Tensor logsumexp = at::empty({rows}, at::kFloat), loss = at::empty({}, at::kFloat);
  float* lse = logsumexp.mutable_data_ptr<float>();
  double sum = 0;
  by_type(logits, [&]<typename T>(T) {
    const T* x = logits.const_data_ptr<T>();
    at::parallel_for(0, rows, grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        TORCH_CHECK(label[r] < n, "label ", label[r], " is outside the vocabulary of ", n);
        lse[r] = logsumexp_row(x + r * n, n);
      }
    });
    for (int64_t r = 0; r < rows; ++r)
      if (label[r] >= 0) sum += static_cast<double>(lse[r] - load(x + r * n + label[r]));
  });
  *loss.mutable_data_ptr<float>() = static_cast<float>(sum);
  return {loss, logsumexp};
}

Tensor backward_cpu(const Tensor& dloss, const Tensor& logits_in, const Tensor& labels_in,
                    const Tensor& logsumexp) {
  check(logits_in, labels_in);
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  const int64_t rows = logits.size(0), n = logits.size(1);
  const float factor = *dloss.const_data_ptr<float>();
  const float* lse = logsumexp.const_data_ptr<float>();
  const int64_t* label = labels.const_data_ptr<int64_t>();
  Tensor dlogits = at::empty_like(logits);
  by_type(logits, [&]<typename T>(T) {
    at::parallel_for(0, rows, grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* x = logits.const_data_ptr<T>() + r * n;
        T* out = dlogits.mutable_data_ptr<T>() + r * n;
        TORCH_CHECK(label[r] < n, "label ", label[r], " is outside the vocabulary of ", n);
        if (label[r] < 0) {
          std::fill_n(out, n, T(0.0F));
          continue;
        }
        // `out` may be `x`.
        const float chosen = factor * (vector_exp(load(x + label[r]) - lse[r]) - 1.0F);
        softmax_row(x, lse[r], factor, out, n);
        store(out + label[r], chosen);
      }
    });
  });
  return dlogits;
}

std::tuple<Tensor, Tensor> forward_meta(const Tensor& logits, const Tensor& labels) {
  check(logits, labels);
  const auto fp32 = logits.options().dtype(at::kFloat);
  return {at::empty({}, fp32), at::empty({logits.size(0)}, fp32)};
}

Tensor backward_meta(const Tensor&, const Tensor& logits, const Tensor& labels, const Tensor&) {
  check(logits, labels);
  return at::empty_like(logits, at::MemoryFormat::Contiguous);
}

struct CrossEntropy : torch::autograd::Function<CrossEntropy> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& logits,
                        const Tensor& labels) {
    at::AutoDispatchBelowADInplaceOrView below;
    auto [loss, logsumexp] = cross_entropy_forward(logits, labels);
    context->save_for_backward({logits, labels, logsumexp});
    return loss;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    return {cross_entropy_backward(grads[0], saved[0], saved[1], saved[2]), {}};
  }
};

const graph::OperatorEntries entries = {
    // To fp32 (r W), log-softmax (R W), the label's: 14 bytes for 2; capitals are fp32.
    {"heddle.cross_entropy",
     {.kernels = 2, .unfused = {.bytes = 7.0, .kernels = 4}, .scratch = &contiguous_copies}},
    // The label's (W), log-softmax backward (2 R W), to bf16 (R w): 22 for 4.
    {"heddle.cross_entropy_backward",
     {.takes = {{1}}, .unfused = {.bytes = 5.5, .kernels = 4}, .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("cross_entropy(Tensor logits, Tensor labels) -> (Tensor, Tensor)");
  library.def(
      "cross_entropy_backward(Tensor dloss, Tensor logits, Tensor labels, Tensor logsumexp) -> "
      "Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("cross_entropy", &forward_cpu);
  library.impl("cross_entropy_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("cross_entropy", &forward_meta);
  library.impl("cross_entropy_backward", &backward_meta);
}

std::tuple<Tensor, Tensor> cross_entropy_forward(const Tensor& logits, const Tensor& labels) {
  static const auto op = find<Forward>("heddle::cross_entropy");
  return op.call(logits, labels);
}

Tensor cross_entropy_backward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                              const Tensor& logsumexp) {
  static const auto op = find<Backward>("heddle::cross_entropy_backward");
  return op.call(dloss, logits, labels, logsumexp);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  return CrossEntropy::apply(logits, labels);
}

}  // namespace heddle::kernels
