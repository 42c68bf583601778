// Files that somebody else may have put there: regular ones alone, never waited for, and of a size
// that is known before they are read.
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

  /// Nothing where there is no such file. A pipe, a device or a socket is an error, and so is a
  /// link that is not to be followed: "PATH: cannot be read: why". /dev/null is an empty file.
  static Result<std::optional<PlainFile>> open(const std::string& path, Links links);

  PlainFile(PlainFile&& other) noexcept;
  PlainFile& operator=(PlainFile&&) = delete;
  ~PlainFile();

  /// As it was when the file was opened.
  uint64_t size() const { return size_; }
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

}  // namespace heddle
