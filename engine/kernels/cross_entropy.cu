#include "engine/kernels/softmax.cuh"

namespace heddle::kernels::cuda {
namespace {

constexpr int kSumThreads = 1024;

// A block is a row.
template <typename T, int V>
__global__ void logsumexps(const T* logits, const int64_t* labels, float* logsumexp, int64_t n) {
  const int64_t row = blockIdx.x;
  if (labels[row] >= n) stop_run("label", labels[row], n);
  const Statistics all = row_statistics<T, V>(logits + row * n, n);
  if (threadIdx.x == 0) logsumexp[row] = all.top + logf(all.sum);
}

// One block sums the loss.
template <typename T>
__global__ void sum_loss(const T* logits, const int64_t* labels, const float* logsumexp,
                         float* loss, int64_t rows, int64_t n) {
  double sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kSumThreads)
    if (labels[row] >= 0)
      sum += static_cast<double>(logsumexp[row] - to_float(logits[row * n + labels[row]]));
  sum = reduce_block(sum, 0.0, Sum());
  if (threadIdx.x == 0) *loss = static_cast<float>(sum);
}

template <typename T, int V>
__global__ void backward(const float* dloss, const T* logits, const int64_t* labels,
                         const float* logsumexp, T* dlogits, int64_t n) {
  const int64_t row = blockIdx.x, label = labels[row];
  logits += row * n;
  dlogits += row * n;
  const float factor = label < 0 ? 0.0F : *dloss, lse = logsumexp[row];
  const float chosen = label < 0 ? 0.0F : to_float(logits[label]);
  __syncthreads();  // dlogits may be logits: read before it is written
  write_softmax<T, V>(logits, lse, factor, dlogits, n);
  __syncthreads();  // the label's element is written again
  if (threadIdx.x == 0 && label >= 0)
    dlogits[label] = from_float<T>(factor * (expf(chosen - lse) - 1.0F));
}

}  // namespace

void cross_entropy(Type type, const void* logits, const int64_t* labels, float* loss,
                   float* logsumexp, int64_t rows, int64_t n, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    const auto* x = static_cast<const T*>(logits);
    if (rows > 0)
      by_pack<T>(packs<T>(n, logits), [&]<typename, int V>() {
        launch(stream, rows, &logsumexps<T, V>, x, labels, logsumexp, n);
      });
    launch(stream, 1, 1, kSumThreads, &sum_loss<T>, x, labels, logsumexp, loss, rows, n);
  });
}

void cross_entropy_backward(Type type, const float* dloss, const void* logits,
                            const int64_t* labels, const float* logsumexp, void* dlogits,
                            int64_t rows, int64_t n, cudaStream_t stream) {
  if (rows == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(n, logits, dlogits), [&]<typename, int V>() {
      launch(stream, rows, &backward<T, V>, dloss, static_cast<const T*>(logits), labels, logsumexp,
             static_cast<T*>(dlogits), n);
    });
  });
}

}  // namespace heddle::kernels::cuda
