#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle {
namespace {

/// A regular file, opened; closes itself.
class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    error_ = fd_ < 0 || ::fstat(fd_, &status_) != 0 ? errno : 0;
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool missing() const { return error_ == ENOENT || error_ == ENOTDIR; }
  off_t size() const { return status_.st_size; }

  /// What keeps it from being read; empty: nothing.
  std::string fault() const {
    if (error_ != 0) return std::strerror(error_);
    if (S_ISDIR(status_.st_mode)) return "it is a folder";
    return S_ISREG(status_.st_mode) ? "" : "it is no regular file";
  }

  /// From `offset` on, at most `most` bytes: what /proc makes has no size before it is read.
  Result<std::string> read(off_t offset, size_t most) const {
    std::string bytes;
    while (bytes.size() < most) {
      const size_t done = bytes.size();
      const auto expected = static_cast<size_t>(std::max<off_t>(size() - offset, 0));
      bytes.resize(std::min(most, std::max(done + 4096, expected + 1)));
      const ssize_t count =
          ::pread(fd_, bytes.data() + done, bytes.size() - done, offset + static_cast<off_t>(done));
      bytes.resize(done + static_cast<size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail("{}", std::strerror(errno));
      if (count == 0) break;
    }
    return bytes;
  }

 private:
  int fd_ = -1;
  int error_ = 0;
  struct stat status_ {};
};

Result<std::string> whole(const File& file, const std::string& path, size_t most) {
  if (const std::string fault = file.fault(); !fault.empty())
    return fail("{}: cannot be read: {}", path, fault);
  if (file.size() > static_cast<off_t>(most))
    return fail("{}: {} bytes; at most {} are read", path, file.size(), most);
  Result<std::string> bytes = file.read(0, most + 1);
  if (!bytes) return fail("{}: cannot be read: {}", path, bytes.error().message);
  if (bytes->size() > most) return fail("{}: more than {} bytes; no more are read", path, most);
  return bytes;
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t most) {
  return whole(File(path), path, most);
}

Result<std::optional<std::string>> read_file_if_there(const std::string& path, size_t most) {
  const File file(path);
  if (file.missing()) return std::optional<std::string>{};
  return whole(file, path, most).map([](std::string bytes) {
    return std::optional(std::move(bytes));
  });
}

std::optional<std::string> read_part(const std::string& path, int64_t from, size_t most) {
  const File file(path);
  if (!file.fault().empty()) return std::nullopt;
  auto bytes = file.read(from, most);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::string tail_of_file(const std::string& path, int64_t from, size_t most) {
  const File file(path);
  if (!file.fault().empty()) return {};
  return file.read(std::max<off_t>(from, file.size() - static_cast<off_t>(most)), most)
      .value_or("");
}

}  // namespace heddle
