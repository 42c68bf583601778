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
namespace {

/// Why such a file is not read; empty: it is.
std::string objection_to(const struct stat& about, PlainFile::Owner owner) {
  if (S_ISDIR(about.st_mode)) return "it is a folder";
  const bool null_device = S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
  if (!S_ISREG(about.st_mode) && !null_device) return "it is no regular file";
  if (owner == PlainFile::Owner::own && about.st_uid != geteuid() && about.st_uid != 0)
    return fmt::format("it belongs to someone else (user {})", about.st_uid);
  return {};
}

Result<> check_path(const std::string& path) {
  if (path.find('\0') == std::string::npos) return {};
  return fail("{}: cannot be read: its name holds a NUL, where the system would end it",
              path.substr(0, path.find('\0')));
}

}  // namespace

Result<std::optional<PlainFile>> PlainFile::open(const std::string& path, Links links,
                                                 Owner owner) {
  if (auto named = check_path(path); !named) return fail(named);
  // A pipe without a writer would be waited for, a terminal would become ours.
  const int flags =
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == Links::refuse ? O_NOFOLLOW : 0);
  const int fd = ::open(path.c_str(), flags);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<PlainFile>();
    if (errno == ELOOP && links == Links::refuse)
      return fail("{}: cannot be read: it is a link", path);
    if (errno == ENXIO) return fail("{}: cannot be read: it is no regular file", path);  // a socket
    return fail("{}: cannot be read: {}", path, strerror(errno));
  }
  struct stat about {};
  const bool known = fstat(fd, &about) == 0;
  PlainFile file(path, fd, known ? static_cast<uint64_t>(about.st_size) : 0);
  if (!known) return fail("{}: cannot be read: {}", path, strerror(errno));
  if (const std::string why = objection_to(about, owner); !why.empty())
    return fail("{}: cannot be read: {}", path, why);
  return std::optional<PlainFile>(std::move(file));
}

Result<PlainFile> PlainFile::open_existing(const std::string& path, Links links, Owner owner) {
  auto file = open(path, links, owner);
  if (!file) return fail(file);
  if (!*file) return fail("{}: cannot be read: {}", path, strerror(ENOENT));
  return std::move(**file);
}

Result<> check_plain_file(const std::string& path) {
  if (auto named = check_path(path); !named) return named;
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return {};  // who opens it says why
  if (const std::string why = objection_to(about, PlainFile::Owner::any); !why.empty())
    return fail("{}: cannot be read: {}", path, why);
  return {};
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

Result<> PlainFile::read_at(void* to, size_t bytes, uint64_t at) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(fd_, out, bytes, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("{}: cannot be read: {}", path_, strerror(errno));
    if (count == 0) return fail("{}: is cut short at byte {}", path_, at);
    out += count;
    at += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return {};
}

}  // namespace heddle
