#include "engine/data/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::data {

OpenFile::OpenFile(std::string path)
    : path_(std::move(path)), fd_(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

OpenFile::~OpenFile() {
  if (fd_ >= 0) close(fd_);
}

Result<uint64_t> OpenFile::size() const {
  struct stat about {};
  if (fd_ < 0 || fstat(fd_, &about) != 0)
    return fail("{}: cannot be opened: {}", path_, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return fail("{}: cannot be opened: not a file", path_);
  return static_cast<uint64_t>(about.st_size);
}

Result<> OpenFile::read(void* to, size_t bytes, uint64_t at) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = pread(fd_, out, bytes, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("{}: cannot be read: {}", path_, std::strerror(errno));
    if (count == 0) return fail("{}: is cut short at byte {}", path_, at);
    out += count;
    at += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return {};
}

}  // namespace heddle::data
