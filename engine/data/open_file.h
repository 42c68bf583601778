// A file of tokens, read where it is asked for. What is read is in the page cache, which all ranks
// share, and does not count as a rank's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::data {

/// Open for reading, until this goes. Threads: any. Errors begin with the path.
class OpenFile {
 public:
  explicit OpenFile(std::string path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  const std::string& path() const { return path_; }
  /// An error where it cannot be opened or is no regular file.
  Result<uint64_t> size() const;
  Result<> read(void* to, size_t bytes, uint64_t at) const;

  /// Numbers of type Id from byte `at` on.
  template <typename Id>
  Result<> read_ids(uint64_t at, std::span<int64_t> ids) const {
    std::vector<Id> narrow(ids.size());
    if (auto done = read(narrow.data(), narrow.size() * sizeof(Id), at); !done) return done;
    std::ranges::copy(narrow, ids.begin());
    return {};
  }

 private:
  std::string path_;
  int fd_;
};

}  // namespace heddle::data
