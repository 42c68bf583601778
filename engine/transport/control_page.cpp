#include "engine/transport/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace heddle::transport {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free);

// Not private: the word is shared by processes.
long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value,
           const timespec* limit = nullptr) {
  return syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

void set(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value, std::memory_order_release);
  futex(word, FUTEX_WAKE, INT_MAX);
}

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

Result<ControlPage*> map(int fd) {
  void* address = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return heddle::fail("mmap: {}", strerror(errno));
  return static_cast<ControlPage*>(address);
}

}  // namespace

bool wait_for(const std::atomic<uint32_t>& counter, uint32_t mark, std::chrono::milliseconds limit,
              int spins) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (uint32_t now = counter.load(std::memory_order_acquire); !reached(now, mark);
       now = counter.load(std::memory_order_acquire)) {
    if (spins-- > 0) {
      pause_briefly();
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const timespec time{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    futex(counter, FUTEX_WAIT, now, &time);
  }
  return true;
}

Result<MappedPage> MappedPage::create() {
  const int fd = memfd_create("heddle-control-page", MFD_CLOEXEC);
  if (fd < 0) return heddle::fail("memfd_create: {}", strerror(errno));
  const auto page = ftruncate(fd, sizeof(ControlPage)) == 0
                        ? map(fd)
                        : Result<ControlPage*>(heddle::fail("ftruncate: {}", strerror(errno)));
  if (!page) {
    close(fd);
    return heddle::fail(page);
  }
  return MappedPage(fd, *page);
}

Result<MappedPage> MappedPage::open(int pid, int fd) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) return heddle::fail("{}: {}", path, strerror(errno));
  struct stat file {};
  const bool whole =
      fstat(own, &file) == 0 && static_cast<size_t>(file.st_size) == sizeof(ControlPage);
  const auto page =
      whole ? map(own) : Result<ControlPage*>(heddle::fail("{} is no control page", path));
  if (!page) {
    close(own);
    return heddle::fail(page);
  }
  return MappedPage(own, *page);
}

MappedPage::MappedPage(MappedPage&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), page_(std::exchange(other.page_, nullptr)) {}

MappedPage::~MappedPage() {
  if (page_) munmap(page_, sizeof(ControlPage));
  if (fd_ >= 0) close(fd_);
}

void MappedPage::post(const Descriptor& descriptor) {
  page_->slots[descriptor.sequence % kSlots] = descriptor;
  set(page_->posted, posted_mark(descriptor.sequence));
}

void MappedPage::advance(uint32_t mark) { set(page_->progress, mark); }

void MappedPage::fail() {
  set(page_->failed, 1);
  // Wakes those who wait for the counters, too.
  futex(page_->posted, FUTEX_WAKE, INT_MAX);
  futex(page_->progress, FUTEX_WAKE, INT_MAX);
}

}  // namespace heddle::transport
