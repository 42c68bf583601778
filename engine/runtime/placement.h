// Hands planned addresses to operators that allocate their results themselves.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::runtime {

/// Where the allocations of one operator go. While a `Placing` lives, LibTorch's allocator of the
/// device answers from it on this thread.
struct Placement {
  struct Slot {
    std::byte* address;
    size_t bytes;
  };
  std::vector<Slot> results;  // in the order of the operator's results
  Slot scratch{nullptr, 0};   // for what it allocates besides
  size_t alignment = 64;      // of each part of that
  /// Memory of other devices is not placed: a number that an operator on a GPU makes on the host.
  c10::DeviceType device = c10::kCPU;
  /// Which allocation becomes which result (-1: none), where that is known; otherwise an allocation
  /// of a result's exact size is taken to be it, in order.
  std::vector<int16_t> order;
};

/// The allocations of an operator.
struct Allocation {
  void* address;
  size_t bytes;
};

class Placing {
 public:
  explicit Placing(const Placement& placement);
  ~Placing();
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  const std::vector<Allocation>& allocations() const;
};

/// While one of these lives, its operator's allocations other than results are scratch: they are
/// free again when it ends, and its tensors with it. These nest. The device uses the memory in
/// order.
class ReusedScratch {
 public:
  ReusedScratch();
  ~ReusedScratch();
  ReusedScratch(const ReusedScratch&) = delete;
  ReusedScratch& operator=(const ReusedScratch&) = delete;

 private:
  size_t used_;
};

/// For a device's allocator: where memory that is asked for now belongs, null where it may lie
/// anywhere; then the allocator tells where that is. What libraries keep for themselves they must
/// have allocated before: it could be taken for a result of its size.
std::byte* place(size_t bytes, c10::DeviceType device);
void placed_elsewhere(void* address, size_t bytes, c10::DeviceType device);

/// Bytes that operators on this thread allocated outside of their placements since the last call.
int64_t take_outside_bytes();

}  // namespace heddle::runtime
