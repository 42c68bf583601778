#include "storage/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::storage {
namespace {

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
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
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

Lease::Lease(Lease&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Lease::~Lease() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace heddle::storage
