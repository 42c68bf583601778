// Cross-entropy of logits whose columns are spread over ranks: each rank has `n` of them, from
// column `begin` on; columns from `vocabulary` on stand for no token.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Statistics = Tensor(const Tensor&, const Tensor&, const Tensor&, int64_t);
using Join = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&);
using Backward = Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        int64_t);

constexpr int64_t kNumbers = 3;  // the largest logit, Σ e^(logit − it), the label's logit or 0

struct Columns {
  int64_t begin, count;  // count: those that stand for tokens
  int64_t width;

  bool contain(int64_t label) const { return label >= begin && label < begin + count; }
};

Columns columns_of(const Tensor& logits, const Tensor& begin, int64_t vocabulary) {
  const int64_t width = logits.size(1), first = begin.item<int64_t>();
  return {first, std::clamp<int64_t>(vocabulary - first, 0, width), width};
}

void check(const Tensor& logits, const Tensor& labels) {
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0),
              "cross-entropy takes logits [T, n] and labels [T], not ", logits.sizes(), " and ",
              labels.sizes());
  check_type(logits, "cross-entropy's logits");
}

template <typename T>
HEDDLE_VECTORIZED void statistics_of(const T* x, int64_t n, float* out) {
  float top = n > 0 ? load(x) : -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = load(x + i) > top ? load(x + i) : top;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += vector_exp(load(x + i) - top);
  out[0] = top;
  out[1] = sum;
}

template <typename T>
HEDDLE_VECTORIZED void softmax_of(const T* x, float logsumexp, float factor, T* out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(out + i, factor * vector_exp(load(x + i) - logsumexp));
}

Tensor statistics_cpu(const Tensor& logits_in, const Tensor& labels, const Tensor& begin,
                      int64_t vocabulary) {
  check(logits_in, labels);
  const Tensor logits = logits_in.contiguous();
  const Columns columns = columns_of(logits, begin, vocabulary);
  const int64_t* label = labels.const_data_ptr<int64_t>();
  Tensor numbers = at::empty({logits.size(0), kNumbers}, at::kFloat);
  float* out = numbers.mutable_data_ptr<float>();
  by_type(logits, [&]<typename T>(T) {
    const T* x = logits.const_data_ptr<T>();
    at::parallel_for(0, logits.size(0), grain(columns.width), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        TORCH_CHECK(label[r] < vocabulary, "label ", label[r], " is outside the vocabulary of ",
                    vocabulary);
        const T* row = x + r * columns.width;
        statistics_of(row, columns.count, out + r * kNumbers);
        out[r * kNumbers + 2] =
            columns.contain(label[r]) ? load(row + label[r] - columns.begin) : 0.0F;
      }
    });
  });
  return numbers;
}

std::tuple<Tensor, Tensor> join_cpu(const Tensor& numbers, const Tensor& labels) {
  const int64_t rows = labels.size(0), ranks = numbers.size(0) / std::max<int64_t>(rows, 1);
  const Tensor all = numbers.contiguous();
  const float* number = all.const_data_ptr<float>();
  const int64_t* label = labels.const_data_ptr<int64_t>();
  Tensor logsumexp = at::empty({rows}, at::kFloat), loss = at::empty({}, at::kFloat);
  float* lse = logsumexp.mutable_data_ptr<float>();
  double total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const auto of_rank = [&](int64_t rank) { return number + (rank * rows + r) * kNumbers; };
    float top = of_rank(0)[0], sum = 0, chosen = 0;
    for (int64_t rank = 1; rank < ranks; ++rank) top = std::max(top, of_rank(rank)[0]);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const float* of = of_rank(rank);
      if (of[1] != 0) sum += of[1] * std::exp(of[0] - top);
      chosen += of[2];
    }
    lse[r] = top + std::log(sum);
    if (label[r] >= 0) total += static_cast<double>(lse[r] - chosen);
  }
  *loss.mutable_data_ptr<float>() = static_cast<float>(total);
  return {loss, logsumexp};
}

Tensor backward_cpu(const Tensor& dloss, const Tensor& logits_in, const Tensor& labels,
                    const Tensor& begin, const Tensor& logsumexp, int64_t vocabulary) {
  check(logits_in, labels);
  const Tensor logits = logits_in.contiguous();
  const Columns columns = columns_of(logits, begin, vocabulary);
  const float factor = *dloss.const_data_ptr<float>();
  const float* lse = logsumexp.const_data_ptr<float>();
  const int64_t* label = labels.const_data_ptr<int64_t>();
  Tensor dlogits = at::empty_like(logits);
  by_type(logits, [&]<typename T>(T) {
    at::parallel_for(0, logits.size(0), grain(columns.width), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        const T* x = logits.const_data_ptr<T>() + r * columns.width;
        T* out = dlogits.mutable_data_ptr<T>() + r * columns.width;
        const int64_t count = label[r] < 0 ? 0 : columns.count;
        const int64_t own = columns.contain(label[r]) ? label[r] - columns.begin : -1;
        // `out` may be `x`.
        const float chosen = own < 0 ? 0.0F : factor * (vector_exp(load(x + own) - lse[r]) - 1.0F);
        softmax_of(x, lse[r], factor, out, count);
        std::fill(out + count, out + columns.width, T(0.0F));
        if (own >= 0) store(out + own, chosen);
      }
    });
  });
  return dlogits;
}

Tensor statistics_meta(const Tensor& logits, const Tensor& labels, const Tensor&, int64_t) {
  check(logits, labels);
  return at::empty({logits.size(0), kNumbers}, logits.options().dtype(at::kFloat));
}
std::tuple<Tensor, Tensor> join_meta(const Tensor& numbers, const Tensor& labels) {
  return {at::empty({}, numbers.options()), at::empty({labels.size(0)}, numbers.options())};
}
Tensor backward_meta(const Tensor&, const Tensor& logits, const Tensor& labels, const Tensor&,
                     const Tensor&, int64_t) {
  check(logits, labels);
  return at::empty_like(logits, at::MemoryFormat::Contiguous);
}

const graph::OperatorEntries entries = {
    {"heddle.vocabulary_statistics", {.scratch = &contiguous_copies}},
    {"heddle.joined_cross_entropy", {.scratch = &contiguous_copies}},
    {"heddle.vocabulary_cross_entropy_backward", {.takes = {{1}}, .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "vocabulary_statistics(Tensor logits, Tensor labels, Tensor begin, int vocabulary) -> "
      "Tensor");
  library.def("joined_cross_entropy(Tensor numbers, Tensor labels) -> (Tensor, Tensor)");
  library.def(
      "vocabulary_cross_entropy_backward(Tensor dloss, Tensor logits, Tensor labels, Tensor begin, "
      "Tensor logsumexp, int vocabulary) -> Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("vocabulary_statistics", &statistics_cpu);
  library.impl("joined_cross_entropy", &join_cpu);
  library.impl("vocabulary_cross_entropy_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("vocabulary_statistics", &statistics_meta);
  library.impl("joined_cross_entropy", &join_meta);
  library.impl("vocabulary_cross_entropy_backward", &backward_meta);
}

Tensor vocabulary_statistics(const Tensor& logits, const Tensor& labels, const Tensor& begin,
                             int64_t vocabulary) {
  static const auto op = find<Statistics>("heddle::vocabulary_statistics");
  return op.call(logits, labels, begin, vocabulary);
}

std::tuple<Tensor, Tensor> joined_cross_entropy(const Tensor& numbers, const Tensor& labels) {
  static const auto op = find<Join>("heddle::joined_cross_entropy");
  return op.call(numbers, labels);
}

Tensor vocabulary_cross_entropy_backward(const Tensor& dloss, const Tensor& logits,
                                         const Tensor& labels, const Tensor& begin,
                                         const Tensor& logsumexp, int64_t vocabulary) {
  static const auto op = find<Backward>("heddle::vocabulary_cross_entropy_backward");
  return op.call(dloss, logits, labels, begin, logsumexp, vocabulary);
}

}  // namespace heddle::kernels
