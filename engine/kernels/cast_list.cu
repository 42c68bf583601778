#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

template <int V, typename From, typename To>
__device__ void convert(const From* from, To* to) {
  float v[V];
  load<V>(from, v);
  store<V>(to, v);
}

// A block is a chunk of one tensor.
template <typename From, typename To>
__global__ void convert_all(ListBlocks blocks, Inputs tensors, Outputs results) {
  constexpr int kAtOnce = kPack<__nv_bfloat16>;
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  const auto* from = static_cast<const From*>(tensors.of[tensor]);
  auto* to = static_cast<To*>(results.of[tensor]);
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const int64_t whole = whole_packs<kAtOnce>(begin, end, from, to);
  for (int64_t i = begin + threadIdx.x * kAtOnce; i < whole; i += kThreads * kAtOnce)
    convert<kAtOnce>(from + i, to + i);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads) convert<1>(from + i, to + i);
}

}  // namespace

void cast_list(Type from, const ListBlocks& blocks, const Inputs& tensors, const Outputs& results,
               cudaStream_t stream) {
  if (blocks.blocks() == 0) return;
  if (from == Type::fp32) {
    launch(stream, blocks.blocks(), &convert_all<float, __nv_bfloat16>, blocks, tensors, results);
  } else {
    launch(stream, blocks.blocks(), &convert_all<__nv_bfloat16, float>, blocks, tensors, results);
  }
}

}  // namespace heddle::kernels::cuda
