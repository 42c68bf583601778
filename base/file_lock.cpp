#include "base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>

namespace heddle {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{2};

std::string holder_in(int fd) {
  std::array<char, 16> text{};
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  const std::string number(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  const bool known = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  return known ? "process " + number : "another process";
}

/// Empty: it is this user's file.
std::string objection_to(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return strerror(errno);
  if (!S_ISREG(about.st_mode)) return "it is no regular file";
  if (about.st_uid != geteuid())
    return fmt::format("it belongs to someone else (user {}), who could hold it up: remove it",
                       about.st_uid);
  return {};
}

}  // namespace

Result<FileLock> FileLock::open_and_lock(const std::string& path, int kind, milliseconds patience) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd < 0 && errno == ELOOP) return fail("{}: cannot be locked: it is a link", path);
  if (fd < 0) return fail("{}: cannot be locked: {}", path, strerror(errno));
  FileLock lock(fd);
  if (const std::string objection = objection_to(fd); !objection.empty())
    return fail("{}: cannot be locked: {}", path, objection);
  fchmod(fd, 0600);
  const auto until = steady_clock::now() + patience;
  while (flock(fd, kind | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      lock.state_ = State::impossible;
      return lock;
    }
    if (steady_clock::now() >= until) {
      lock.state_ = State::of_another;
      lock.holder_ = holder_in(fd);
      return lock;
    }
    std::this_thread::sleep_for(kLook);
  }
  return lock;
}

Result<FileLock> FileLock::take(const std::string& path, milliseconds patience) {
  auto lock = open_and_lock(path, LOCK_EX, patience);
  if (!lock || lock->state_ != State::held) return lock;
  // The number is only for messages: the lock is not what the file holds. A full disk takes it.
  const std::string pid = std::to_string(getpid());
  [[maybe_unused]] const bool told =
      ftruncate(lock->fd_, 0) == 0 && pwrite(lock->fd_, pid.data(), pid.size(), 0) > 0;
  return lock;
}

Result<FileLock> FileLock::share(const std::string& path, milliseconds patience) {
  return open_and_lock(path, LOCK_SH, patience);
}

Result<bool> FileLock::is_held(const std::string& path) { return is_refused(path, LOCK_SH); }

Result<bool> FileLock::is_shared(const std::string& path) { return is_refused(path, LOCK_EX); }

Result<bool> FileLock::is_refused(const std::string& path, int kind) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0) return fail("{}: cannot be looked at: {}", path, strerror(errno));
  const FileLock look(fd);
  // A file that somebody else put there says nothing about this user's processes.
  if (!objection_to(fd).empty()) return false;
  return flock(fd, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), state_(other.state_), holder_(std::move(other.holder_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(state_, other.state_);
  std::swap(holder_, other.holder_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace heddle
