#include "base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace heddle {

Result<std::optional<PlainFile>> PlainFile::open(const std::string& path, Links links) {
  // A pipe without a writer would be waited for, a terminal would become ours.
  const int flags =
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == Links::refuse ? O_NOFOLLOW : 0);
  const int fd = ::open(path.c_str(), flags);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<PlainFile>();
    if (errno == ELOOP && links == Links::refuse)
      return fail("{}: cannot be read: it is a link", path);
    return fail("{}: cannot be read: {}", path, strerror(errno));
  }
  struct stat about {};
  const bool known = fstat(fd, &about) == 0;
  PlainFile file(path, fd, known ? static_cast<uint64_t>(about.st_size) : 0);
  if (!known) return fail("{}: cannot be read: {}", path, strerror(errno));
  if (S_ISDIR(about.st_mode)) return fail("{}: cannot be read: it is a folder", path);
  const bool null_device = S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
  if (!S_ISREG(about.st_mode) && !null_device)
    return fail("{}: cannot be read: it is no regular file", path);
  return std::optional<PlainFile>(std::move(file));
}

PlainFile::PlainFile(PlainFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      done_(other.done_) {}

PlainFile::~PlainFile() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> PlainFile::read(size_t most) {
  std::string bytes(std::min<uint64_t>(most, size_ - done_), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count =
        ::pread(fd_, bytes.data() + got, bytes.size() - got, static_cast<off_t>(done_ + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("{}: cannot be read: {}", path_, strerror(errno));
    if (count == 0) break;  // it was cut meanwhile
    got += static_cast<size_t>(count);
  }
  bytes.resize(got);
  done_ += got;
  return bytes;
}

}  // namespace heddle
