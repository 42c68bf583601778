// One block of memory that holds a step's buffers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace heddle::runtime {

/// Memory of one device, given back by the destructor.
class Arena {
 public:
  /// An error says how much was wanted. On a CPU it touches every page, so that no step pays for
  /// it.
  static Result<Arena> create(int64_t bytes, c10::Device device);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  /// Whether an address is in an arena of this process. Any thread.
  static bool holds(const void* address);

  std::byte* at(int64_t offset) const { return base_ + offset; }

  /// Joins its pages to huge ones, which makes steps about 3 % faster; takes up to a second. On a
  /// CPU, where the kernel can; contents stay.
  void join_pages();
  int64_t bytes() const { return bytes_; }

 private:
  Arena() = default;
  Arena(std::byte* base, int64_t bytes);
  static Result<Arena> create_on(c10::Device device, int64_t bytes);
  std::byte* base_ = nullptr;
  int64_t bytes_ = 0;
  at::Tensor block_;  // on a device other than the CPU: what owns the memory
};

}  // namespace heddle::runtime
