// The update of SGD with momentum, as torch.optim.SGD does it without dampening.
#include "engine/kernels/scratch.h"
#include "engine/kernels/update.h"

namespace heddle::kernels {
namespace {

/// The parameter follows `of_buffer` times the buffer and `of_gradient` times the gradient.
struct SgdRates {
  float rate, factor, decay, momentum, of_buffer, of_gradient;
};

HEDDLE_VECTORIZED
void sgd_range(float* p, float* buffer, const float* g, int64_t n, SgdRates r) {
  for (int64_t begin = 0; begin < n; begin += kPrefetched) {
    prefetch_ahead(p + begin);
    prefetch_ahead(buffer + begin);
    prefetch_ahead(g + begin);
    const int64_t end = std::min(n, begin + kPrefetched);
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const float grad = g[i] * r.factor + r.decay * p[i];
      buffer[i] = r.momentum * buffer[i] + grad;
      p[i] -= r.rate * (r.of_buffer * buffer[i] + r.of_gradient * grad);
    }
  }
}

void sgd(const UpdateCall& call) {
  const float scale = *call.factor.const_data_ptr<float>();
  if (scale == 0.0F) return;  // a gradient that is not finite changes nothing
  const auto momentum = static_cast<float>(call.settings[0]);
  const bool nesterov = call.settings[1] != 0;
  const SgdRates rates{static_cast<float>(*call.lr.const_data_ptr<double>()),
                       scale,
                       static_cast<float>(call.settings[2]),
                       momentum,
                       nesterov ? momentum : 1.0F,
                       nesterov ? 1.0F : 0.0F};
  for_each_range(call, [&](float* const* written, const float* grad, int64_t n) {
    sgd_range(written[0], written[1], grad, n, rates);
  });
}

const graph::OperatorEntries sgd_entries = {
    {"heddle.sgd_", {.merges = true, .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "sgd_(Tensor(a!)[] parameters, Tensor(b!)[] momentum_buffers, Tensor[] grads, Tensor lr, "
      "Tensor step, Tensor factor, float momentum, bool nesterov, float weight_decay) -> ()");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("sgd_", update_kernel<&sgd>()); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("sgd_", update_kernel<&check_alone>()); }

}  // namespace heddle::kernels
