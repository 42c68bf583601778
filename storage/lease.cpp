#include "storage/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace heddle::storage {
namespace {

constexpr int kLooks = 3;
constexpr std::chrono::milliseconds kLook{2};

std::string holder_in(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : "unknown";
}

}  // namespace

Result<Lease> Lease::acquire(const std::string& store_path) {
  const std::string path = store_path + ".lease";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}: cannot open: {}", path, std::strerror(errno));
  Lease lease(fd);
  // Whoever only looks (is_held) has it for microseconds.
  for (int looks = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; ++looks) {
    if (errno == EWOULDBLOCK && looks < kLooks) {
      std::this_thread::sleep_for(kLook);
      continue;
    }
    if (errno != EWOULDBLOCK) return fail("{}: cannot lock: {}", path, std::strerror(errno));
    return fail("{}: another Heddle (process {}) follows the runs of this store", store_path,
                holder_in(fd));
  }
  // The number is only for the message above: a lease is the lock, not the file's content.
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    return fail("{}: cannot write: {}", path, std::strerror(errno));
  }
  return lease;
}

Result<bool> Lease::is_held(const std::string& store_path) {
  const std::string path = store_path + ".lease";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0) return fail("{}: cannot open: {}", path, std::strerror(errno));
  const Lease look(fd);
  if (flock(fd, LOCK_SH | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return fail("{}: cannot lock: {}", path, std::strerror(errno));
}

Lease::Lease(Lease&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Lease::~Lease() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace heddle::storage
