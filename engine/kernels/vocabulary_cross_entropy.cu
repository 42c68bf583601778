#include "engine/kernels/softmax.cuh"

namespace heddle::kernels::cuda {
namespace {

constexpr int64_t kNumbers = 3;  // the largest logit, Σ e^(logit − it), the label's logit or 0
constexpr int kSumThreads = 1024;

// A rank's columns that stand for tokens: from `begin` on, `count` of them.
struct Columns {
  int64_t begin, count;

  __device__ Columns(const int64_t* first, int64_t width, int64_t vocabulary)
      : begin(*first), count(min(max(vocabulary - begin, int64_t{0}), width)) {}
  __device__ bool contain(int64_t label) const { return label >= begin && label < begin + count; }
};

// A block is a row.
template <typename T, int V>
__global__ void statistics(const T* logits, const int64_t* labels, const int64_t* first,
                           float* numbers, int64_t width, int64_t vocabulary) {
  const int64_t row = blockIdx.x, label = labels[row];
  if (label >= vocabulary) stop_run("label", label, vocabulary);
  const Columns columns(first, width, vocabulary);
  logits += row * width;
  const Statistics all = row_statistics<T, V>(logits, columns.count);
  if (threadIdx.x != 0) return;
  numbers += row * kNumbers;
  numbers[0] = all.top;
  numbers[1] = all.sum;
  numbers[2] = columns.contain(label) ? to_float(logits[label - columns.begin]) : 0.0F;
}

// One block joins the ranks' numbers and sums the loss.
__global__ void join(const float* numbers, const int64_t* labels, float* loss, float* logsumexp,
                     int64_t rows, int64_t ranks) {
  double total = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kSumThreads) {
    float top = -INFINITY, sum = 0, chosen = 0;
    for (int64_t rank = 0; rank < ranks; ++rank)
      top = fmaxf(top, numbers[(rank * rows + row) * kNumbers]);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const float* of = numbers + (rank * rows + row) * kNumbers;
      if (of[1] != 0) sum += of[1] * expf(of[0] - top);
      chosen += of[2];
    }
    logsumexp[row] = top + logf(sum);
    if (labels[row] >= 0) total += static_cast<double>(logsumexp[row] - chosen);
  }
  total = reduce_block(total, 0.0, Sum());
  if (threadIdx.x == 0) *loss = static_cast<float>(total);
}

template <typename T, int V>
__global__ void backward(const float* dloss, const T* logits, const int64_t* labels,
                         const int64_t* first, const float* logsumexp, T* dlogits, int64_t width,
                         int64_t vocabulary) {
  const int64_t row = blockIdx.x, label = labels[row];
  const Columns columns(first, width, vocabulary);
  const int64_t count = label < 0 ? 0 : columns.count;
  logits += row * width;
  dlogits += row * width;
  const float factor = *dloss, lse = logsumexp[row];
  const int64_t own = columns.contain(label) ? label - columns.begin : -1;
  const float chosen = own < 0 ? 0.0F : to_float(logits[own]);
  __syncthreads();  // dlogits may be logits: read before it is written
  write_softmax<T, V>(logits, lse, factor, dlogits, count);
  for (int64_t i = count + threadIdx.x; i < width; i += kThreads) dlogits[i] = from_float<T>(0.0F);
  __syncthreads();  // the label's element is written again
  if (threadIdx.x == 0 && own >= 0)
    dlogits[own] = from_float<T>(factor * (expf(chosen - lse) - 1.0F));
}

}  // namespace

void vocabulary_statistics(Type type, const void* logits, const int64_t* labels,
                           const int64_t* begin, float* numbers, int64_t rows, int64_t width,
                           int64_t vocabulary, cudaStream_t stream) {
  if (rows == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(width, logits), [&]<typename, int V>() {
      launch(stream, rows, &statistics<T, V>, static_cast<const T*>(logits), labels, begin, numbers,
             width, vocabulary);
    });
  });
}

void joined_cross_entropy(const float* numbers, const int64_t* labels, float* loss,
                          float* logsumexp, int64_t rows, int64_t ranks, cudaStream_t stream) {
  launch(stream, 1, 1, kSumThreads, &join, numbers, labels, loss, logsumexp, rows, ranks);
}

void vocabulary_cross_entropy_backward(Type type, const float* dloss, const void* logits,
                                       const int64_t* labels, const int64_t* begin,
                                       const float* logsumexp, void* dlogits, int64_t rows,
                                       int64_t width, int64_t vocabulary, cudaStream_t stream) {
  if (rows == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(width, logits, dlogits), [&]<typename, int V>() {
      launch(stream, rows, &backward<T, V>, dloss, static_cast<const T*>(logits), labels, begin,
             logsumexp, static_cast<T*>(dlogits), width, vocabulary);
    });
  });
}

}  // namespace heddle::kernels::cuda
