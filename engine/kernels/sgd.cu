#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

struct Rates {
  const double* lr;
  const float* factor;
  float momentum, weight_decay;
  bool nesterov;
};

// Factors that all elements of a step share; the parameter follows `of_buffer` times the buffer and
// `of_gradient` times the gradient.
struct Factors {
  float rate, factor, decay, momentum, of_buffer, of_gradient;
};

__device__ Factors factors_of(const Rates& rates) {
  return {static_cast<float>(*rates.lr),
          *rates.factor,
          rates.weight_decay,
          rates.momentum,
          rates.nesterov ? rates.momentum : 1.0F,
          rates.nesterov ? 1.0F : 0.0F};
}

template <int V>
__device__ void update(float* parameter, float* buffer, const float* gradient, const Factors& f) {
  float p[V], m[V], g[V];
  load<V>(parameter, p);
  load<V>(buffer, m);
  load<V>(gradient, g);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    g[j] = g[j] * f.factor + f.decay * p[j];
    m[j] = f.momentum * m[j] + g[j];
    p[j] -= f.rate * (f.of_buffer * m[j] + f.of_gradient * g[j]);
  }
  store<V>(parameter, p);
  store<V>(buffer, m);
}

// A block is a chunk of one parameter.
__global__ void update_all(ListBlocks blocks, UpdateInputs tensors, Rates rates) {
  const Factors f = factors_of(rates);
  if (f.factor == 0.0F) return;  // a gradient that is not finite changes nothing
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  float *p = tensors.parameter[tensor], *m = tensors.state[0][tensor];
  const float* g = tensors.grad[tensor];
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const int64_t whole = whole_packs<4>(begin, end, p, m, g);
  for (int64_t i = begin + threadIdx.x * 4; i < whole; i += kThreads * 4)
    update<4>(p + i, m + i, g + i, f);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads) update<1>(p + i, m + i, g + i, f);
}

}  // namespace

void sgd(const ListBlocks& blocks, const UpdateInputs& tensors, const UpdateRates& rates,
         cudaStream_t stream) {
  if (blocks.blocks() == 0) return;
  launch(stream, blocks.blocks(), &update_all, blocks, tensors,
         Rates{rates.lr, rates.factor, static_cast<float>(rates.settings[0]),
               static_cast<float>(rates.settings[2]), rates.settings[1] != 0});
}

}  // namespace heddle::kernels::cuda
