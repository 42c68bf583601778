#include "engine/kernels/device.cuh"
#include "engine/kernels/documents.h"

namespace heddle::kernels::cuda {
namespace {

constexpr int kFindThreads = 1024;

// Of threads for which `counted`: those before this one in the block, and all.
struct Counts {
  int before = 0, all = 0;
};
__device__ Counts count(bool counted) {
  __shared__ int of_warp[kFindThreads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned lanes = __ballot_sync(kAllLanes, counted);
  __syncthreads();  // the counts before these have been read
  if (lane == 0) of_warp[warp] = __popc(lanes);
  __syncthreads();
  Counts counts{__popc(lanes & ((1U << lane) - 1)), 0};
  for (unsigned other = 0; other < kFindThreads / 32; ++other) {
    if (other < warp) counts.before += of_warp[other];
    counts.all += of_warp[other];
  }
  return counts;
}

// Calls `each(sequence, token)` for all tokens in order, as many at a time as there are threads; a
// token may lie behind its sequence.
template <typename Each>
__device__ void for_tokens(int64_t sequences, int64_t s, Each&& each) {
  for (int64_t sequence = 0; sequence < sequences; ++sequence)
    for (int64_t from = 0; from < s; from += kFindThreads) each(sequence, from + threadIdx.x);
}

// One block. Segment i of all sequences begins at starts[i].
__global__ void find(SeenKeys all, int64_t sequences, int64_t s, int64_t capacity, int32_t* starts,
                     int32_t* found) {
  const auto keys_of = [&](int64_t sequence) {
    return SeenKeys{all.first + sequence * s, all.last + sequence * s};
  };
  int documents = 0;
  bool sound = true;
  for_tokens(sequences, s, [&](int64_t sequence, int64_t token) {
    const SeenKeys keys = keys_of(sequence);
    documents += count(token < s && keys.begins(token)).all;
    sound = sound && (token >= s || keys.sees_its_document(token));
  });
  const bool documents_only = count(!sound).all == 0;
  const int64_t shared = documents_only && documents > capacity
                             ? longest_shared(sequences * s, sequences, capacity)
                             : 0;
  int64_t segments = 0;
  for_tokens(sequences, s, [&](int64_t sequence, int64_t token) {
    const bool begins =
        documents_only && token < s && keys_of(sequence).begins_segment(token, s, shared);
    const Counts counts = count(begins);
    if (begins) starts[segments + counts.before] = static_cast<int32_t>(sequence * s + token);
    segments += counts.all;
  });
  for (int64_t i = segments + threadIdx.x; i <= capacity; i += kFindThreads)
    starts[i] = static_cast<int32_t>(sequences * s);
  if (threadIdx.x != 0) return;
  found[0] = documents_only ? 1 : 0;
  found[1] = static_cast<int32_t>(shared);
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
                    int64_t capacity, int32_t* starts, int32_t* found, cudaStream_t stream) {
  launch(stream, 1, 1, kFindThreads, &find, SeenKeys{first, last}, sequences, s, capacity, starts,
         found);
}

void spoil_unless(const int32_t* valid, Type type, void* values, int64_t n, cudaStream_t stream) {
  constexpr int64_t kBlocks = 1024;
  by_type(type, [&]<typename T>() {
    launch(stream, kBlocks, &spoil<T>, static_cast<T*>(values), n, valid);
  });
}

}  // namespace heddle::kernels::cuda
