// The one way to open a file that comes from outside: a regular one, never waited for, of a size
// that is known before it is read. Any other open would hang at a pipe (tests/packaging
// checks it).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace heddle {

/// A regular file that is open for reading.
class PlainFile {
 public:
  enum class Links { follow, refuse };  // where the path's last part is a symbolic link
  enum class Owner { any, own };        // own: this user, or root

  /// Nothing where there is no such file. A pipe, a device or a socket is an error, and so is a
  /// link that is not to be followed, and another owner's file: "PATH: cannot be read: why".
  /// /dev/null is an empty file.
  static Result<std::optional<PlainFile>> open(const std::string& path, Links links,
                                               Owner owner = Owner::any);
  /// The same of a file that has to be there.
  static Result<PlainFile> open_existing(const std::string& path, Links links = Links::follow,
                                         Owner owner = Owner::any);

  PlainFile(PlainFile&& other) noexcept;
  PlainFile& operator=(PlainFile&&) = delete;
  ~PlainFile();

  const std::string& path() const { return path_; }
  /// For calls of the system; open until this goes.
  int fd() const { return fd_; }
  /// As it was when the file was opened.
  uint64_t size() const { return size_; }
  /// All bytes from a place on, which must be there. Any thread.
  Result<> read_at(void* to, size_t bytes, uint64_t at) const;
  /// The next bytes begin there, or at the end.
  void skip_to(uint64_t offset) { done_ = std::min(offset, size_); }
  /// The next bytes, at most so many and none beyond `size`; empty at the end.
  Result<std::string> read(size_t most);

 private:
  PlainFile(std::string path, int fd, uint64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}

  std::string path_;
  int fd_;
  uint64_t size_;
  uint64_t done_ = 0;
};

/// The error that `PlainFile::open` would give, of a file that a library opens itself.
Result<> check_plain_file(const std::string& path);

}  // namespace heddle
