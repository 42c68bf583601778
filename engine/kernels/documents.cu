#include "engine/kernels/device.cuh"
#include "engine/kernels/documents.h"

namespace heddle::kernels::cuda {
namespace {

constexpr int kFindThreads = 1024;

// One block goes through all tokens in order; document i of all sequences begins at starts[i].
__global__ void find(SeenKeys all, int64_t sequences, int64_t s, int32_t* starts, int capacity,
                     int32_t* valid) {
  __shared__ int warp_counts[kFindThreads / 32], found;
  if (threadIdx.x == 0) {
    found = 0;
    *valid = 1;
  }
  const int64_t tokens = sequences * s;
  for (int64_t from = 0; from < tokens; from += kFindThreads) {
    const int64_t at = from + threadIdx.x, token = at % s;
    const SeenKeys keys{all.first + at - token, all.last + at - token};
    const bool begins = at < tokens && keys.begins(token);
    const bool sound = at >= tokens || keys.sees_its_document(token);
    const unsigned lanes = __ballot_sync(kAllLanes, begins);
    __syncthreads();  // the counts of the round before have been read
    if (threadIdx.x % 32 == 0) warp_counts[threadIdx.x / 32] = __popc(lanes);
    if (!sound) *valid = 0;
    __syncthreads();
    int place = found;
    for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) place += warp_counts[warp];
    place += __popc(lanes & ((1U << (threadIdx.x % 32)) - 1));
    if (begins && place < capacity) starts[place] = static_cast<int32_t>(at);
    __syncthreads();
    if (threadIdx.x == 0)
      for (int warp = 0; warp < kFindThreads / 32; ++warp) found += warp_counts[warp];
  }
  __syncthreads();
  if (threadIdx.x == 0 && found > capacity) *valid = 0;
  for (int i = min(found, capacity) + static_cast<int>(threadIdx.x); i <= capacity;
       i += kFindThreads)
    starts[i] = static_cast<int32_t>(tokens);
}

template <typename T>
__global__ void spoil(T* values, int64_t n, const int32_t* valid) {
  if (*valid) return;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride)
    values[i] = from_float<T>(NAN);
}

}  // namespace

void find_documents(const int64_t* first, const int64_t* last, int64_t sequences, int64_t s,
                    int32_t* starts, int32_t* valid, cudaStream_t stream) {
  find<<<1, kFindThreads, 0, stream>>>({first, last}, sequences, s, starts,
                                       static_cast<int>(sequences * kDocuments), valid);
}

void spoil_unless(const int32_t* valid, Type type, void* values, int64_t n, cudaStream_t stream) {
  constexpr unsigned kBlocks = 1024;
  by_type(type, [&]<typename T>() {
    spoil<T><<<kBlocks, kThreads, 0, stream>>>(static_cast<T*>(values), n, valid);
  });
}

}  // namespace heddle::kernels::cuda
