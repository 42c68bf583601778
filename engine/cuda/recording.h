// Work that a stream would do, as a CUDA graph.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <functional>

namespace heddle::cuda {

class Recording {
 public:
  /// Calls `work`: what it puts in the current stream, and in streams that it has wait for that
  /// one, is recorded instead of done. What it allocates stays until all recordings are gone: they
  /// share it, and so never run at once. Throws what `work` throws, else c10::Error; then nothing
  /// is being recorded any more.
  explicit Recording(const std::function<void()>& work);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Puts all of it in the current stream. Throws c10::Error.
  void launch() const;

 private:
  c10::DeviceIndex device_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace heddle::cuda
