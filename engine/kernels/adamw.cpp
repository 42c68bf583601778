// The update of AdamW (arXiv 1711.05101, algorithm 2).
#include <cmath>

#include "engine/kernels/scratch.h"
#include "engine/kernels/update.h"

namespace heddle::kernels {
namespace {

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

void adamw(const UpdateCall& call) {
  const float scale = *call.factor.const_data_ptr<float>();
  if (scale == 0.0F) return;  // a gradient that is not finite changes nothing
  const double rate = *call.lr.const_data_ptr<double>();
  const auto t = static_cast<double>(*call.step.const_data_ptr<int64_t>());
  const double beta1 = call.settings[0], beta2 = call.settings[1], eps = call.settings[2],
               weight_decay = call.settings[3];
  const Rates rates{static_cast<float>(rate) / static_cast<float>(1.0 - std::pow(beta1, t)),
                    scale,
                    static_cast<float>(1.0 - rate * weight_decay),
                    static_cast<float>(beta1),
                    static_cast<float>(beta2),
                    static_cast<float>(eps),
                    1.0F / static_cast<float>(std::sqrt(1.0 - std::pow(beta2, t)))};
  for_each_range(call, [&](float* const* written, const float* grad, int64_t n) {
    adamw_range(written[0], written[1], written[2], grad, n, rates);
  });
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
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("adamw_", update_kernel<&adamw>()); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("adamw_", update_kernel<&check_alone>()); }

}  // namespace heddle::kernels
