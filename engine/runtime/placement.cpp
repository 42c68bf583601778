#include "engine/runtime/placement.h"

#include <c10/core/CPUAllocator.h>

#include <utility>

#include "engine/runtime/arena.h"

namespace heddle::runtime {
namespace {

constexpr size_t kAlign = 64;

struct State {
  const Placement* placement = nullptr;
  std::vector<Allocation> allocations;
  std::vector<bool> taken;  // by result: handed out
  size_t scratch_used = 0;
  int64_t outside_bytes = 0;
};

thread_local State state;

void keep(void*) {}

class PlacingAllocator final : public c10::Allocator {
 public:
  explicit PlacingAllocator(c10::Allocator* next) : next_(next) { give_to = next->raw_deleter(); }

  c10::DataPtr allocate(size_t bytes) override {
    if (!state.placement || bytes == 0) return next_->allocate(bytes);
    if (std::byte* address = place(bytes)) {
      state.allocations.push_back({address, bytes});
      return {address, address, &keep, c10::Device(c10::kCPU)};
    }
    state.outside_bytes += static_cast<int64_t>(bytes);
    c10::DataPtr data = next_->allocate(bytes);
    state.allocations.push_back({data.get(), bytes});
    return data;
  }
  // Libraries that allocate without a DataPtr (oneDNN's scratchpads) give memory back by address.
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    next_->copy_data(to, from, bytes);
  }

 private:
  static void give_back(void* address) {
    if (!Arena::holds(address)) give_to(address);
  }

  static std::byte* place(size_t bytes) {
    const Placement& placement = *state.placement;
    const size_t index = state.allocations.size();
    if (!placement.order.empty()) {
      const int result = index < placement.order.size() ? placement.order[index] : -1;
      if (result >= 0) return placement.results[static_cast<size_t>(result)].address;
    } else {
      for (size_t i = 0; i < placement.results.size(); ++i) {
        if (placement.results[i].bytes != bytes || state.taken[i]) continue;
        state.taken[i] = true;
        return placement.results[i].address;
      }
    }
    const size_t begin = (state.scratch_used + kAlign - 1) / kAlign * kAlign;
    if (begin + bytes > placement.scratch.bytes) return nullptr;
    state.scratch_used = begin + bytes;
    return placement.scratch.address + begin;
  }

  c10::Allocator* next_;
  static inline c10::DeleterFnPtr give_to = nullptr;
};

void install() {
  static const bool installed = [] {
    static PlacingAllocator allocator(c10::GetCPUAllocator());
    c10::SetCPUAllocator(&allocator, 1);
    return true;
  }();
  (void)installed;
}

}  // namespace

Placing::Placing(const Placement& placement) {
  install();
  state.placement = &placement;
  state.allocations.clear();
  state.taken.assign(placement.results.size(), false);
  state.scratch_used = 0;
}

Placing::~Placing() { state.placement = nullptr; }

const std::vector<Allocation>& Placing::allocations() const { return state.allocations; }

int64_t take_outside_bytes() { return std::exchange(state.outside_bytes, 0); }

}  // namespace heddle::runtime
