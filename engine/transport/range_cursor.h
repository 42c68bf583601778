// Walks through a list of ranges, a system call's worth at a time.
#pragma once

#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <vector>

#include "engine/transport/operation.h"

namespace heddle::transport {

/// A place in a list of ranges.
class RangeCursor {
 public:
  /// The ranges stay with the caller.
  explicit RangeCursor(const std::vector<Range>& ranges) : ranges_(&ranges) { advance(0); }

  bool done() const { return index_ == ranges_->size(); }

  /// Appends what comes next, at most so many bytes, to a system call's entries. Returns the bytes.
  uint64_t peek(std::vector<iovec>& entries, uint64_t at_most) const {
    uint64_t bytes = 0;
    for (size_t i = index_; i < ranges_->size() && entries.size() < IOV_MAX && bytes < at_most;
         ++i) {
      const Range& range = (*ranges_)[i];
      const uint64_t offset = i == index_ ? offset_ : 0;
      const uint64_t length = std::min(range.bytes - offset, at_most - bytes);
      if (length > 0) entries.push_back({range.data() + offset, length});
      bytes += length;
    }
    return bytes;
  }

  void advance(uint64_t bytes) {
    offset_ += bytes;
    while (!done() && offset_ >= (*ranges_)[index_].bytes) offset_ -= (*ranges_)[index_++].bytes;
  }

 private:
  const std::vector<Range>* ranges_;
  size_t index_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace heddle::transport
