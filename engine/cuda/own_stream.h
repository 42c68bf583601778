// A communication stream that no other group has. LibTorch's pool has 32: with more groups than
// that, a collective would wait behind another group's, which may wait for this one on
// another rank.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace heddle::cuda {

class OwnStream {
 public:
  /// A stream of the current GPU, ahead of its others where there is a choice. Throws c10::Error.
  OwnStream() : stream_(c10::cuda::getStreamFromExternal(make(), c10::cuda::current_device())) {}
  ~OwnStream() { C10_CUDA_CHECK_WARN(cudaStreamDestroy(stream_)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  const c10::cuda::CUDAStream& get() const { return stream_; }

 private:
  static cudaStream_t make() {
    int least = 0, greatest = 0;
    C10_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t stream = nullptr;
    C10_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    return stream;
  }

  c10::cuda::CUDAStream stream_;
};

}  // namespace heddle::cuda
