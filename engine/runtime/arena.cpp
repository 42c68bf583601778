#include "engine/runtime/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::runtime {

Result<Arena> Arena::create(int64_t bytes) {
  constexpr int64_t kHugePage = int64_t{2} << 20;
  bytes = (std::max<int64_t>(bytes, 1) + kHugePage - 1) / kHugePage * kHugePage;
  const auto size = static_cast<size_t>(bytes);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail("no {:.1f} GiB of memory for the step: {}", static_cast<double>(bytes) / (1 << 30),
                std::strerror(errno));
  madvise(base, size, MADV_HUGEPAGE);  // refused by some kernels: small pages do as well
  Arena arena(static_cast<std::byte*>(base), bytes);
  std::memset(base, 0, size);
  return arena;
}

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Arena::~Arena() {
  if (base_) munmap(base_, static_cast<size_t>(bytes_));
}

}  // namespace heddle::runtime
