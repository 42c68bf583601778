// What follows backward: accumulation, the gradients' norm, clipping, AdamW. None has a gradient.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"

namespace heddle::kernels {
namespace {

using at::Tensor;

HEDDLE_VECTORIZED
void add_range(float* sum, const float* value, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i] += value[i];
}

HEDDLE_VECTORIZED
double squares(const float* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

struct Rates {
  float lr, factor, decay, beta1, beta2, eps, correction1, correction2;
};

HEDDLE_VECTORIZED
void adamw_range(float* p, float* m, float* v, const float* g, int64_t n, Rates r) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float grad = g[i] * r.factor;
    m[i] += (grad - m[i]) * (1.0F - r.beta1);
    v[i] = r.beta2 * v[i] + (1.0F - r.beta2) * grad * grad;
    p[i] = p[i] * r.decay - r.lr / r.correction1 * m[i] / (std::sqrt(v[i]) / r.correction2 + r.eps);
  }
}

void accumulate_cpu(Tensor sum, const Tensor& value_in) {
  TORCH_CHECK(sum.is_contiguous() && sum.sizes() == value_in.sizes(),
              "accumulate_ takes two tensors of one shape");
  const Tensor value = value_in.contiguous();
  at::parallel_for(0, sum.numel(), 16384, [&](int64_t begin, int64_t end) {
    add_range(sum.mutable_data_ptr<float>() + begin, value.const_data_ptr<float>() + begin,
              end - begin);
  });
}

// Blocks of a fixed size, added in order: the result does not depend on the threads.
Tensor squared_norm_cpu(at::TensorList tensors) {
  constexpr int64_t kBlock = 65536;
  double sum = 0;
  for (const Tensor& each : tensors) {
    check_float(each, "squared_norm's tensors");
    const Tensor tensor = each.contiguous();
    const int64_t blocks = (tensor.numel() + kBlock - 1) / kBlock;
    std::vector<double> partial(static_cast<size_t>(blocks));
    at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        partial[static_cast<size_t>(block)] =
            squares(tensor.const_data_ptr<float>() + block * kBlock,
                    std::min(kBlock, tensor.numel() - block * kBlock));
    });
    for (double block : partial) sum += block;
  }
  Tensor result = at::empty({}, at::kDouble);
  *result.mutable_data_ptr<double>() = sum;
  return result;
}

Tensor clip_factor_cpu(const Tensor& norm, double max_norm) {
  const double value = norm.item<double>();
  double factor = 1.0;
  if (!std::isfinite(value)) {
    factor = 0.0;
  } else if (max_norm > 0.0) {
    factor = std::min(1.0, max_norm / (value + 1e-6));
  }
  Tensor result = at::empty({}, at::kFloat);
  *result.mutable_data_ptr<float>() = static_cast<float>(factor);
  return result;
}

void adamw_cpu(Tensor parameter, Tensor exp_avg, Tensor exp_avg_sq, const Tensor& grad_in,
               const Tensor& lr, const Tensor& step, const Tensor& factor, double beta1,
               double beta2, double eps, double weight_decay) {
  const float scale = *factor.const_data_ptr<float>();
  if (scale == 0.0F) return;  // a gradient that is not finite changes nothing
  const double rate = *lr.const_data_ptr<double>();
  const auto t = static_cast<double>(*step.const_data_ptr<int64_t>());
  const Rates rates{static_cast<float>(rate),
                    scale,
                    static_cast<float>(1.0 - rate * weight_decay),
                    static_cast<float>(beta1),
                    static_cast<float>(beta2),
                    static_cast<float>(eps),
                    static_cast<float>(1.0 - std::pow(beta1, t)),
                    static_cast<float>(std::sqrt(1.0 - std::pow(beta2, t)))};
  const Tensor grad = grad_in.contiguous();
  at::parallel_for(0, parameter.numel(), 16384, [&](int64_t begin, int64_t end) {
    adamw_range(parameter.mutable_data_ptr<float>() + begin,
                exp_avg.mutable_data_ptr<float>() + begin,
                exp_avg_sq.mutable_data_ptr<float>() + begin, grad.const_data_ptr<float>() + begin,
                end - begin, rates);
  });
}

void accumulate_meta(Tensor, const Tensor&) {}
Tensor squared_norm_meta(at::TensorList tensors) {
  return at::empty({}, tensors.front().options().dtype(at::kDouble));
}
Tensor clip_factor_meta(const Tensor& norm, double) {
  return at::empty({}, norm.options().dtype(at::kFloat));
}
void adamw_meta(Tensor parameter, Tensor exp_avg, Tensor exp_avg_sq, const Tensor& grad,
                const Tensor&, const Tensor&, const Tensor&, double, double, double, double) {
  TORCH_CHECK(parameter.sizes() == grad.sizes() && exp_avg.sizes() == grad.sizes() &&
                  exp_avg_sq.sizes() == grad.sizes(),
              "adamw_ takes four tensors of one shape, not ", parameter.sizes(),
              " with a gradient of ", grad.sizes());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("accumulate_(Tensor(a!) sum, Tensor value) -> ()");
  library.def("squared_norm(Tensor[] tensors) -> Tensor");
  library.def("clip_factor(Tensor norm, float max_norm) -> Tensor");
  library.def(
      "adamw_(Tensor(a!) parameter, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, Tensor grad, Tensor "
      "lr, "
      "Tensor step, Tensor factor, float beta1, float beta2, float eps, float weight_decay) -> ()");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("accumulate_", &accumulate_cpu);
  library.impl("squared_norm", &squared_norm_cpu);
  library.impl("clip_factor", &clip_factor_cpu);
  library.impl("adamw_", &adamw_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("accumulate_", &accumulate_meta);
  library.impl("squared_norm", &squared_norm_meta);
  library.impl("clip_factor", &clip_factor_meta);
  library.impl("adamw_", &adamw_meta);
}

void accumulate_(Tensor sum, const Tensor& value) {
  static const auto op = find<void(Tensor, const Tensor&)>("heddle::accumulate_");
  op.call(std::move(sum), value);
}

Tensor squared_norm(const std::vector<Tensor>& tensors) {
  static const auto op = find<Tensor(at::TensorList)>("heddle::squared_norm");
  return op.call(tensors);
}

Tensor clip_factor(const Tensor& norm, double max_norm) {
  static const auto op = find<Tensor(const Tensor&, double)>("heddle::clip_factor");
  return op.call(norm, max_norm);
}

void adamw_(Tensor parameter, Tensor exp_avg, Tensor exp_avg_sq, const Tensor& grad,
            const Tensor& lr, const Tensor& step, const Tensor& factor, const AdamW& settings) {
  static const auto op =
      find<void(Tensor, Tensor, Tensor, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                double, double, double, double)>("heddle::adamw_");
  op.call(std::move(parameter), std::move(exp_avg), std::move(exp_avg_sq), grad, lr, step, factor,
          settings.beta1, settings.beta2, settings.eps, settings.weight_decay);
}

}  // namespace heddle::kernels
