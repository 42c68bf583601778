// The update. It has no gradient.
#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using at::TensorList;

struct Rates {
  float rate, factor, decay, beta1, beta2, eps, root;  // root: of v's correction, inverted
};

HEDDLE_VECTORIZED
void adamw_range(float* p, float* m, float* v, const float* g, int64_t n, Rates r) {
  for (int64_t begin = 0; begin < n; begin += kPrefetched) {
    prefetch_ahead(p + begin);
    prefetch_ahead(m + begin);
    prefetch_ahead(v + begin);
    prefetch_ahead(g + begin);
    const int64_t end = std::min(n, begin + kPrefetched);
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const float grad = g[i] * r.factor;
      m[i] += (grad - m[i]) * (1.0F - r.beta1);
      v[i] = r.beta2 * v[i] + (1.0F - r.beta2) * grad * grad;
      p[i] = p[i] * r.decay - r.rate * m[i] / (std::sqrt(v[i]) * r.root + r.eps);
    }
  }
}

void check_lists(TensorList parameters, TensorList exp_avgs, TensorList exp_avg_sqs,
                 TensorList grads) {
  TORCH_CHECK(exp_avgs.size() == parameters.size() && exp_avg_sqs.size() == parameters.size() &&
                  grads.size() == parameters.size(),
              "adamw_ takes four lists of one length, not ", parameters.size(), ", ",
              exp_avgs.size(), ", ", exp_avg_sqs.size(), " and ", grads.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    TORCH_CHECK(
        parameters[i].sizes() == grads[i].sizes() && exp_avgs[i].sizes() == grads[i].sizes() &&
            exp_avg_sqs[i].sizes() == grads[i].sizes(),
        "adamw_ takes parameters, moments and gradients of one shape, not ", parameters[i].sizes(),
        ", ", exp_avgs[i].sizes(), ", ", exp_avg_sqs[i].sizes(), " and ", grads[i].sizes());
  for (TensorList list : {parameters, exp_avgs, exp_avg_sqs, grads})
    for (const Tensor& each : list)
      TORCH_CHECK(each.scalar_type() == at::kFloat, "adamw_ takes fp32 tensors, not ",
                  each.scalar_type());
}

void adamw_cpu(TensorList parameters, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList grads,
               const Tensor& lr, const Tensor& step, const Tensor& factor, double beta1,
               double beta2, double eps, double weight_decay) {
  check_lists(parameters, exp_avgs, exp_avg_sqs, grads);
  for (TensorList list : {parameters, exp_avgs, exp_avg_sqs})
    for (const Tensor& each : list)
      TORCH_CHECK(each.is_contiguous(), "adamw_ takes contiguous parameters and moments");
  const float scale = *factor.const_data_ptr<float>();
  if (scale == 0.0F) return;  // a gradient that is not finite changes nothing
  const double rate = *lr.const_data_ptr<double>();
  const auto t = static_cast<double>(*step.const_data_ptr<int64_t>());
  const Rates rates{static_cast<float>(rate) / static_cast<float>(1.0 - std::pow(beta1, t)),
                    scale,
                    static_cast<float>(1.0 - rate * weight_decay),
                    static_cast<float>(beta1),
                    static_cast<float>(beta2),
                    static_cast<float>(eps),
                    1.0F / static_cast<float>(std::sqrt(1.0 - std::pow(beta2, t)))};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor grad = grads[i].contiguous();
    float *p = parameters[i].mutable_data_ptr<float>(), *m = exp_avgs[i].mutable_data_ptr<float>(),
          *v = exp_avg_sqs[i].mutable_data_ptr<float>();
    const float* g = grad.const_data_ptr<float>();
    at::parallel_for(0, grad.numel(), kGrain, [&](int64_t begin, int64_t end) {
      adamw_range(p + begin, m + begin, v + begin, g + begin, end - begin, rates);
    });
  }
}

void adamw_meta(TensorList parameters, TensorList exp_avgs, TensorList exp_avg_sqs,
                TensorList grads, const Tensor&, const Tensor&, const Tensor&, double, double,
                double, double) {
  check_lists(parameters, exp_avgs, exp_avg_sqs, grads);
}

const graph::OperatorEntries entries = {
    {"heddle.adamw_", {.merges = true, .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "adamw_(Tensor(a!)[] parameters, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, Tensor[] "
      "grads, Tensor lr, Tensor step, Tensor factor, float beta1, float beta2, float eps, float "
      "weight_decay) -> ()");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("adamw_", &adamw_cpu); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("adamw_", &adamw_meta); }

void adamw_(const std::vector<Tensor>& parameters, const std::vector<Tensor>& exp_avgs,
            const std::vector<Tensor>& exp_avg_sqs, const std::vector<Tensor>& grads,
            const Tensor& lr, const Tensor& step, const Tensor& factor, const AdamW& settings) {
  static const auto op =
      find<void(TensorList, TensorList, TensorList, TensorList, const Tensor&, const Tensor&,
                const Tensor&, double, double, double, double)>("heddle::adamw_");
  op.call(parameters, exp_avgs, exp_avg_sqs, grads, lr, step, factor, settings.beta1,
          settings.beta2, settings.eps, settings.weight_decay);
}

}  // namespace heddle::kernels
