#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// What every element of a step needs.
struct Factors {
  float factor, decay, rate, correction, beta1, beta2, eps;
};

__device__ Factors factors_of(const AdamWRates& rates) {
  const double lr = *rates.lr;
  const auto step = static_cast<double>(*rates.step);
  const auto correction1 = static_cast<float>(1.0 - pow(rates.beta1, step));
  return {*rates.factor,
          static_cast<float>(1.0 - lr * rates.weight_decay),
          static_cast<float>(lr) / correction1,
          static_cast<float>(sqrt(1.0 - pow(rates.beta2, step))),
          static_cast<float>(rates.beta1),
          static_cast<float>(rates.beta2),
          static_cast<float>(rates.eps)};
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

// A block is a chunk of one parameter; a chunk is a multiple of 4, so that only its end is not.
__global__ void update_all(ListBlocks blocks, AdamWInputs tensors, AdamWRates rates) {
  __shared__ Factors shared;
  if (threadIdx.x == 0) shared = factors_of(rates);
  __syncthreads();
  const Factors f = shared;
  if (f.factor == 0.0F) return;  // a gradient that is not finite changes nothing
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  float *p = tensors.parameter[tensor], *m = tensors.exp_avg[tensor],
        *v = tensors.exp_avg_sq[tensor];
  const float* g = tensors.grad[tensor];
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const auto addresses = reinterpret_cast<uintptr_t>(p) | reinterpret_cast<uintptr_t>(m) |
                         reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(g);
  const int64_t whole = addresses % 16 == 0 ? begin + (end - begin) / 4 * 4 : begin;
  for (int64_t i = begin + threadIdx.x * 4; i < whole; i += kThreads * 4)
    update<4>(p + i, m + i, v + i, g + i, f);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads)
    update<1>(p + i, m + i, v + i, g + i, f);
}

}  // namespace

void adamw(const ListBlocks& blocks, const AdamWInputs& tensors, const AdamWRates& rates,
           cudaStream_t stream) {
  if (blocks.blocks() > 0)
    update_all<<<static_cast<unsigned>(blocks.blocks()), kThreads, 0, stream>>>(blocks, tensors,
                                                                                rates);
}

}  // namespace heddle::kernels::cuda
