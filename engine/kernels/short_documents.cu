// Attention within short documents, many of them in one segment that flash attention took for a
// document: what it made of that is written over. A warp is a query, or a key, of one head.
#include "engine/kernels/device.cuh"
#include "engine/kernels/documents.h"

namespace heddle::kernels::cuda {
namespace {

constexpr int kLanes = 32, kMaxHeadDim = 256;
constexpr int64_t kBlocks = 1024;

// A lane's elements of a head.
struct Part {
  float of[kMaxHeadDim / kLanes];
};

template <typename T>
__device__ Part load_part(const T* head, int d) {
  Part part;
#pragma unroll
  for (int j = 0; j < kMaxHeadDim / kLanes; ++j) {
    const int i = static_cast<int>(threadIdx.x) % kLanes + j * kLanes;
    part.of[j] = i < d ? to_float(head[i]) : 0.0F;
  }
  return part;
}

template <typename T>
__device__ void store_part(T* head, int d, const Part& part) {
#pragma unroll
  for (int j = 0; j < kMaxHeadDim / kLanes; ++j) {
    const int i = static_cast<int>(threadIdx.x) % kLanes + j * kLanes;
    if (i < d) head[i] = from_float<T>(part.of[j]);
  }
}

// to = to · kept + factor · part
__device__ void add(Part& to, float kept, float factor, const Part& part) {
#pragma unroll
  for (int j = 0; j < kMaxHeadDim / kLanes; ++j) to.of[j] = to.of[j] * kept + factor * part.of[j];
}

__device__ float dot(const Part& a, const Part& b) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < kMaxHeadDim / kLanes; ++j) sum += a.of[j] * b.of[j];
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(kAllLanes, sum, offset);
  return sum;
}

// Heads of queries to a head of keys. In 32 bits: dividing by a number of 64 is a function of its
// own.
__device__ unsigned group_of(const AttentionShape& shape) {
  return static_cast<unsigned>(shape.heads) / static_cast<unsigned>(shape.kv_heads);
}

// Calls `each(token, head, start, end)` for the tokens of documents that share a segment, a warp at
// a time, with the tokens of their document.
template <typename Each>
__device__ void for_shared(const AttentionShape& shape, const int64_t* first, const int32_t* found,
                           int64_t heads_in, Each&& each) {
  const auto heads = static_cast<unsigned>(heads_in), s = static_cast<unsigned>(shape.s);
  const int64_t shared = found[1], items = shape.tokens * heads_in;
  if (shared == 0) return;
  const int64_t warps = static_cast<int64_t>(gridDim.x) * (kThreads / kLanes);
  for (int64_t item = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
       item < items; item += warps) {
    const unsigned token = static_cast<unsigned>(item) / heads;
    const int64_t sequence = token / s * s, at = token - sequence;
    const SeenKeys keys{first + sequence, nullptr};
    if (keys.is_longer(at, shape.s, shared)) continue;
    int64_t end = at + 1;
    while (end < shape.s && keys.first[end] == keys.first[at]) ++end;
    each(static_cast<int64_t>(token), static_cast<unsigned>(item) % heads,
         sequence + keys.first[at], sequence + end);
  }
}

template <typename T>
__global__ void forward(AttentionShape shape, const T* q, const T* k, const T* v,
                        const int64_t* first, const int32_t* found, T* out, float* logsumexp) {
  const int d = static_cast<int>(shape.d);
  for_shared(shape, first, found, shape.heads,
             [&](int64_t token, unsigned head, int64_t start, int64_t) {
               const int64_t kv_head = head / group_of(shape);
               const int64_t row = (token * shape.heads + head) * d;
               const Part query = load_part(q + row, d);
               Part sum{};
               float top = -INFINITY, total = 0;
               for (int64_t key = start; key <= token; ++key) {
                 const int64_t at = (key * shape.kv_heads + kv_head) * d;
                 const float score = dot(query, load_part(k + at, d)) * shape.scale;
                 const float higher = fmaxf(top, score), kept = expf(top - higher),
                             weight = expf(score - higher);
                 add(sum, kept, weight, load_part(v + at, d));
                 total = total * kept + weight;
                 top = higher;
               }
               add(sum, 1.0F / total, 0.0F, query);
               store_part(out + row, d, sum);
               if (threadIdx.x % kLanes == 0)
                 logsumexp[head * shape.tokens + token] = top + logf(total);
             });
}

template <typename T>
struct Given {
  const T *dout, *q, *k, *v, *out;
  const float* logsumexp;
};

// A query's share of the gradient of its score with a key, and what a key's value gets of dout.
struct Pair {
  float weight, dscore;
};
__device__ Pair pair(const Part& query, const Part& key, const Part& value, const Part& dout,
                     float logsumexp, float delta, float scale) {
  const float weight = expf(dot(query, key) * scale - logsumexp);
  return {weight, weight * (dot(dout, value) - delta) * scale};
}

template <typename T>
__global__ void backward_queries(AttentionShape shape, Given<T> given, const int64_t* first,
                                 const int32_t* found, T* dq) {
  const int d = static_cast<int>(shape.d);
  for_shared(
      shape, first, found, shape.heads, [&](int64_t token, unsigned head, int64_t start, int64_t) {
        const int64_t kv_head = head / group_of(shape);
        const int64_t row = (token * shape.heads + head) * d;
        const Part query = load_part(given.q + row, d), dout = load_part(given.dout + row, d);
        const float delta = dot(dout, load_part(given.out + row, d)),
                    logsumexp = given.logsumexp[head * shape.tokens + token];
        Part sum{};
        for (int64_t at = start; at <= token; ++at) {
          const int64_t kv_row = (at * shape.kv_heads + kv_head) * d;
          const Part key = load_part(given.k + kv_row, d), value = load_part(given.v + kv_row, d);
          add(sum, 1.0F, pair(query, key, value, dout, logsumexp, delta, shape.scale).dscore, key);
        }
        store_part(dq + row, d, sum);
      });
}

template <typename T>
__global__ void backward_keys(AttentionShape shape, Given<T> given, const int64_t* first,
                              const int32_t* found, T* dk, T* dv) {
  const int d = static_cast<int>(shape.d);
  const unsigned group = group_of(shape);
  for_shared(
      shape, first, found, shape.kv_heads,
      [&](int64_t token, unsigned kv_head, int64_t, int64_t end) {
        const int64_t kv_row = (token * shape.kv_heads + kv_head) * d;
        const Part key = load_part(given.k + kv_row, d), value = load_part(given.v + kv_row, d);
        Part dkey{}, dvalue{};
        for (int64_t at = token; at < end; ++at)
          for (unsigned head = kv_head * group; head < (kv_head + 1) * group; ++head) {
            const int64_t row = (at * shape.heads + head) * d;
            const Part query = load_part(given.q + row, d), dout = load_part(given.dout + row, d);
            const float delta = dot(dout, load_part(given.out + row, d)),
                        logsumexp = given.logsumexp[head * shape.tokens + at];
            const Pair of = pair(query, key, value, dout, logsumexp, delta, shape.scale);
            add(dkey, 1.0F, of.dscore, query);
            add(dvalue, 1.0F, of.weight, dout);
          }
        store_part(dk + kv_row, d, dkey);
        store_part(dv + kv_row, d, dvalue);
      });
}

template <typename T>
__global__ void spoil(T* values, int64_t n, const int32_t* valid) {
  if (*valid) return;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride)
    values[i] = from_float<T>(NAN);
}

}  // namespace

void short_documents(Type type, const AttentionShape& shape, const void* q, const void* k,
                     const void* v, const int64_t* first, const int32_t* found, void* out,
                     float* logsumexp, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    launch(stream, kBlocks, &forward<T>, shape, static_cast<const T*>(q), static_cast<const T*>(k),
           static_cast<const T*>(v), first, found, static_cast<T*>(out), logsumexp);
  });
}

void short_documents_backward(Type type, const AttentionShape& shape, const void* dout,
                              const void* q, const void* k, const void* v, const void* out,
                              const float* logsumexp, const int64_t* first, const int32_t* found,
                              void* dq, void* dk, void* dv, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    const Given<T> given{static_cast<const T*>(dout), static_cast<const T*>(q),
                         static_cast<const T*>(k),    static_cast<const T*>(v),
                         static_cast<const T*>(out),  logsumexp};
    launch(stream, kBlocks, &backward_queries<T>, shape, given, first, found, static_cast<T*>(dq));
    launch(stream, kBlocks, &backward_keys<T>, shape, given, first, found, static_cast<T*>(dk),
           static_cast<T*>(dv));
  });
}

void spoil_unless(const int32_t* valid, Type type, void* values, int64_t n, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    launch(stream, kBlocks, &spoil<T>, static_cast<T*>(values), n, valid);
  });
}

}  // namespace heddle::kernels::cuda
