// Two results of attention over different keys become one: each weighs by its share of the sum of
// exponentials (arXiv 2112.05682).
#include <ATen/ops/empty_like.h>

#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Merge = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&,
                                         const Tensor&);

// e^(part − whole), 0 for a part that saw nothing.
float share(float part, float whole) { return std::isinf(part) ? 0.0F : std::exp(part - whole); }

float log_of_sum(float a, float b) {
  const float top = std::max(a, b);
  return std::isinf(top) ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

std::tuple<Tensor, Tensor> merge_cpu(const Tensor& out_a, const Tensor& lse_a, const Tensor& out_b,
                                     const Tensor& lse_b) {
  TORCH_CHECK(out_a.dim() == 4 && out_a.sizes() == out_b.sizes() && lse_a.sizes() == lse_b.sizes(),
              "merge_attention takes two results of one shape, not ", out_a.sizes(), " and ",
              out_b.sizes());
  check_type(out_a, "merge_attention's result");
  const Tensor a = out_a.contiguous(), b = out_b.contiguous(), la = lse_a.contiguous(),
               lb = lse_b.contiguous();
  Tensor out = at::empty_like(a), logsumexp = at::empty_like(la);
  const int64_t s = a.size(1), heads = a.size(2), d = a.size(3);
  by_type(a, [&]<typename T>(T) {
    at::parallel_for(0, a.size(0) * s, grain(heads * d), [&](int64_t begin, int64_t end) {
      for (int64_t token = begin; token < end; ++token)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t at = (token / s * heads + h) * s + token % s;  // in [B, H, S]
          const float left = la.const_data_ptr<float>()[at], right = lb.const_data_ptr<float>()[at];
          const float whole = log_of_sum(left, right);
          logsumexp.mutable_data_ptr<float>()[at] = whole;
          const float x = share(left, whole), y = share(right, whole);
          const int64_t row = (token * heads + h) * d;
          const T* from_a = a.const_data_ptr<T>() + row;
          const T* from_b = b.const_data_ptr<T>() + row;
          T* to = out.mutable_data_ptr<T>() + row;
          for (int64_t i = 0; i < d; ++i)
            store(to + i, x * load(from_a + i) + y * load(from_b + i));
        }
    });
  });
  return {out, logsumexp};
}

std::tuple<Tensor, Tensor> merge_meta(const Tensor& out_a, const Tensor& lse_a, const Tensor&,
                                      const Tensor&) {
  return {at::empty_like(out_a, at::MemoryFormat::Contiguous),
          at::empty_like(lse_a, at::MemoryFormat::Contiguous)};
}

const graph::OperatorEntries entries = {
    {"heddle.merge_attention", {.scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "merge_attention(Tensor out_a, Tensor lse_a, Tensor out_b, Tensor lse_b) -> (Tensor, "
      "Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("merge_attention", &merge_cpu); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("merge_attention", &merge_meta); }

std::tuple<Tensor, Tensor> merge_attention(const Tensor& out_a, const Tensor& lse_a,
                                           const Tensor& out_b, const Tensor& lse_b) {
  static const auto op = find<Merge>("heddle::merge_attention");
  return op.call(out_a, lse_a, out_b, lse_b);
}

}  // namespace heddle::kernels
