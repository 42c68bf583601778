#include "engine/runtime/placement.h"

#include <c10/core/CPUAllocator.h>

#include <utility>

#include "engine/runtime/arena.h"

namespace heddle::runtime {
namespace {

struct State {
  const Placement* placement = nullptr;
  std::vector<Allocation> allocations;
  std::vector<bool> taken;  // by result: handed out
  size_t scratch_used = 0;
  int64_t outside_bytes = 0;
};

thread_local State state;

void keep(void*) {}

bool counts(size_t bytes, c10::DeviceType device) {
  return state.placement && state.placement->device == device && bytes > 0;
}

// The result that the next allocation is taken to be, or -1.
int result_of(size_t bytes) {
  const Placement& placement = *state.placement;
  const size_t index = state.allocations.size();
  if (!placement.order.empty()) {
    const int result = index < placement.order.size() ? placement.order[index] : -1;
    return result >= 0 && bytes <= placement.results[static_cast<size_t>(result)].bytes ? result
                                                                                        : -1;
  }
  for (size_t i = 0; i < placement.results.size(); ++i)
    if (placement.results[i].bytes == bytes && !state.taken[i]) return static_cast<int>(i);
  return -1;
}

std::byte* address_for(size_t bytes) {
  const Placement& placement = *state.placement;
  if (const int result = result_of(bytes); result >= 0) {
    state.taken[static_cast<size_t>(result)] = true;
    return placement.results[static_cast<size_t>(result)].address;
  }
  const size_t align = placement.alignment;
  const size_t begin = (state.scratch_used + align - 1) / align * align;
  if (begin + bytes > placement.scratch.bytes) return nullptr;
  state.scratch_used = begin + bytes;
  return placement.scratch.address + begin;
}

class PlacingAllocator final : public c10::Allocator {
 public:
  explicit PlacingAllocator(c10::Allocator* next) : next_(next) { give_to = next->raw_deleter(); }

  c10::DataPtr allocate(size_t bytes) override {
    if (std::byte* address = place(bytes, c10::kCPU))
      return {address, address, &keep, c10::Device(c10::kCPU)};
    c10::DataPtr data = next_->allocate(bytes);
    placed_elsewhere(data.get(), bytes, c10::kCPU);
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

std::byte* place(size_t bytes, c10::DeviceType device) {
  if (!counts(bytes, device)) return nullptr;
  std::byte* address = address_for(bytes);
  if (address) state.allocations.push_back({address, bytes});
  return address;
}

void placed_elsewhere(void* address, size_t bytes, c10::DeviceType device) {
  if (!counts(bytes, device)) return;
  state.outside_bytes += static_cast<int64_t>(bytes);
  state.allocations.push_back({address, bytes});
}

Placing::Placing(const Placement& placement) {
  install();
  state.placement = &placement;
  state.allocations.clear();
  state.taken.assign(placement.results.size(), false);
  state.scratch_used = 0;
}

Placing::~Placing() { state.placement = nullptr; }

const std::vector<Allocation>& Placing::allocations() const { return state.allocations; }

ReusedScratch::ReusedScratch() : used_(state.scratch_used) {}

ReusedScratch::~ReusedScratch() { state.scratch_used = used_; }

int64_t take_outside_bytes() { return std::exchange(state.outside_bytes, 0); }

}  // namespace heddle::runtime
