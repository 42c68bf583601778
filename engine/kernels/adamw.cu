#include <cmath>

#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// UpdateRates in fp32: it is enough for these, and of most GPUs fp64 is 32 or 64 times as slow.
struct Rates {
  const double* lr;
  const int64_t* step;
  const float* factor;
  float log_beta1, log_beta2, beta1, beta2, eps, weight_decay;
};

// Factors that all elements of a step share.
struct Factors {
  float factor, decay, rate, correction, beta1, beta2, eps;
};

__device__ Factors factors_of(const Rates& rates) {
  const auto lr = static_cast<float>(*rates.lr), step = static_cast<float>(*rates.step);
  // 1 − βᵗ, without losing what is left of 1.
  const float correction1 = -expm1f(step * rates.log_beta1),
              correction2 = -expm1f(step * rates.log_beta2);
  return {*rates.factor,    1.0F - lr * rates.weight_decay,
          lr / correction1, sqrtf(correction2),
          rates.beta1,      rates.beta2,
          rates.eps};
}

template <int V>
__device__ void update(float* parameter, float* exp_avg, float* exp_avg_sq, const float* grad,
                       const Factors& f) {
  float p[V], m[V], v[V], g[V];
  load<V>(parameter, p);
  load<V>(exp_avg, m);
  load<V>(exp_avg_sq, v);
  load<V>(grad, g);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    g[j] *= f.factor;
    m[j] += (g[j] - m[j]) * (1.0F - f.beta1);
    v[j] = f.beta2 * v[j] + (1.0F - f.beta2) * g[j] * g[j];
    p[j] = p[j] * f.decay - f.rate * m[j] / (sqrtf(v[j]) / f.correction + f.eps);
  }
  store<V>(parameter, p);
  store<V>(exp_avg, m);
  store<V>(exp_avg_sq, v);
}

// A block is a chunk of one parameter.
__global__ void update_all(ListBlocks blocks, UpdateInputs tensors, Rates rates) {
  const Factors f = factors_of(rates);
  if (f.factor == 0.0F) return;  // a gradient that is not finite changes nothing
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  float *p = tensors.parameter[tensor], *m = tensors.state[0][tensor],
        *v = tensors.state[1][tensor];
  const float* g = tensors.grad[tensor];
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const int64_t whole = whole_packs<4>(begin, end, p, m, v, g);
  for (int64_t i = begin + threadIdx.x * 4; i < whole; i += kThreads * 4)
    update<4>(p + i, m + i, v + i, g + i, f);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads)
    update<1>(p + i, m + i, v + i, g + i, f);
}

}  // namespace

void adamw(const ListBlocks& blocks, const UpdateInputs& tensors, const UpdateRates& rates,
           cudaStream_t stream) {
  if (blocks.blocks() == 0) return;
  const auto [beta1, beta2, eps, weight_decay] = rates.settings;
  const Rates in_fp32{rates.lr,
                      rates.step,
                      rates.factor,
                      static_cast<float>(std::log(beta1)),
                      static_cast<float>(std::log(beta2)),
                      static_cast<float>(beta1),
                      static_cast<float>(beta2),
                      static_cast<float>(eps),
                      static_cast<float>(weight_decay)};
  launch(stream, blocks.blocks(), &update_all, blocks, tensors, in_fp32);
}

}  // namespace heddle::kernels::cuda
