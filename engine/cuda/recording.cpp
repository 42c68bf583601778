#include "engine/cuda/recording.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>

namespace heddle::cuda {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

// Other threads may use the GPU meanwhile: NCCL's do.
constexpr cudaStreamCaptureMode kMode = cudaStreamCaptureModeThreadLocal;

// Without it all nodes get the priority of the stream that launches the graph, and collectives
// queue behind the thread blocks of a product.
constexpr unsigned long long kFlags = cudaGraphInstantiateFlagUseNodePriority;

bool is_recorded(cudaStream_t stream, unsigned long long recording) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  C10_CUDA_CHECK(cudaStreamGetCaptureInfo(stream, &status, &id));
  return status == cudaStreamCaptureStatusActive && id == recording;
}

c10::MempoolId_t pool() {
  static const c10::MempoolId_t shared = at::cuda::graph_pool_handle();
  return shared;
}

}  // namespace

Recording::Recording(const std::function<void()>& work) : device_(c10::cuda::current_device()) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, kMode));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaError_t ended = cudaStreamGetCaptureInfo(stream, &status, &id);
  caching::beginAllocateToPool(device_, pool(),
                               [id](cudaStream_t each) { return is_recorded(each, id); });
  std::exception_ptr failed;
  if (ended == cudaSuccess) try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
  // All of this whatever has failed: else the allocator goes on to believe in a recording.
  cudaGraph_t graph = nullptr;
  if (const cudaError_t end = cudaStreamEndCapture(stream, &graph); ended == cudaSuccess)
    ended = end;
  caching::endAllocateToPool(device_, pool());
  if (ended == cudaSuccess && !failed) ended = cudaGraphInstantiate(&graph_, graph, kFlags);
  if (graph) C10_CUDA_CHECK_WARN(cudaGraphDestroy(graph));
  if (ended == cudaSuccess && !failed) return;
  (void)cudaGetLastError();  // reported here; later checks must not find it
  caching::releasePool(device_, pool());
  if (failed) std::rethrow_exception(failed);
  C10_CUDA_CHECK(ended);
}

Recording::~Recording() {
  C10_CUDA_CHECK_WARN(cudaGraphExecDestroy(graph_));
  caching::releasePool(device_, pool());
}

void Recording::launch() const {
  C10_CUDA_CHECK(cudaGraphLaunch(graph_, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace heddle::cuda
