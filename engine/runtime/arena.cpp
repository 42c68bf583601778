#include "engine/runtime/arena.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "engine/runtime/device.h"

namespace heddle::runtime {
namespace {

struct Ranges {
  std::mutex mutex;
  std::map<const std::byte*, int64_t> bytes;  // by base
};

Ranges& ranges() {
  static auto* all = new Ranges();
  return *all;
}

}  // namespace

Arena::Arena(std::byte* base, int64_t bytes) : base_(base), bytes_(bytes) {
  std::lock_guard lock(ranges().mutex);
  ranges().bytes[base] = bytes;
}

bool Arena::holds(const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  std::lock_guard lock(ranges().mutex);
  const auto after = ranges().bytes.upper_bound(byte);
  if (after == ranges().bytes.begin()) return false;
  const auto& [base, bytes] = *std::prev(after);
  return byte < base + bytes;
}

Result<Arena> Arena::create_on(c10::Device device, int64_t bytes) try {
  at::Tensor block = allocate_on(device, bytes);
  Arena arena(static_cast<std::byte*>(block.mutable_data_ptr()), bytes);
  arena.block_ = std::move(block);
  return arena;
} catch (const c10::Error& error) {
  return fail("no {:.2f} GiB of GPU memory for the step: {}",
              static_cast<double>(bytes) / (1 << 30), error.what_without_backtrace());
}

Result<Arena> Arena::create(int64_t bytes, c10::Device device) {
  if (!device.is_cpu()) return create_on(device, std::max<int64_t>(bytes, 1));
  constexpr int64_t kHugePage = int64_t{2} << 20;
  bytes = (std::max<int64_t>(bytes, 1) + kHugePage - 1) / kHugePage * kHugePage;
  const auto size = static_cast<size_t>(bytes);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail("no {:.2f} GiB of memory for the step: {}", static_cast<double>(bytes) / (1 << 30),
                std::strerror(errno));
  Arena arena(static_cast<std::byte*>(base), bytes);
  // Small pages, all at once: huge ones take 0.04 s for 340 MB where memory is free in one piece,
  // and up to 0.6 s where the kernel has to make room. `join_pages` is for later.
  if (madvise(base, size, MADV_POPULATE_WRITE) != 0) std::memset(base, 0, size);
  return arena;
}

void Arena::join_pages() {
  // Refused by some kernels, and where no room can be made: small pages do as well.
  if (base_ && !block_.defined()) madvise(base_, static_cast<size_t>(bytes_), MADV_COLLAPSE);
}

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(block_, other.block_);
  return *this;
}

Arena::~Arena() {
  if (!base_) return;
  {
    std::lock_guard lock(ranges().mutex);
    ranges().bytes.erase(base_);
  }
  if (!block_.defined()) munmap(base_, static_cast<size_t>(bytes_));
}

}  // namespace heddle::runtime
