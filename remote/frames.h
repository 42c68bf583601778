// The bytes of files on their way to a host, in frames that a script there takes apart: a line with
// two numbers, the bytes and the bytes of their gzip or 0, then the gzip or the bytes themselves.
// Compressed where that is sooner (packing.h). Threads: one at a time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/plain_file.h"
#include "remote/node.h"
#include "remote/packing.h"

namespace heddle::remote {

/// One file on its way: the bytes from `offset` on are still to come.
struct Upload {
  const Put* put = nullptr;
  std::string part;
  uint64_t offset = 0;
  uint64_t total = 0;
};

class Frames {
 public:
  /// Called before each piece goes; an error stops.
  using Tell = std::function<Result<>(const Put& put, uint64_t bytes)>;

  /// `packs`: the host can unpack.
  Frames(const std::vector<Upload>& uploads, bool packs, Tell tell)
      : uploads_(uploads), packs_(packs), tell_(std::move(tell)) {}

  /// See Source.
  Result<size_t> next(char* buffer, size_t size);

 private:
  Result<size_t> fill(char* buffer, size_t size);
  Result<> read_more(size_t most);
  Result<bool> begin();
  Result<std::string> read(uint64_t size);
  const Put& put() const { return *uploads_[next_ - 1].put; }

  const std::vector<Upload>& uploads_;
  const bool packs_;
  const Tell tell_;
  Packing packing_;
  size_t next_ = 0;
  std::optional<PlainFile> file_;  // of the upload before that
  uint64_t left_ = 0;              // of it, beyond the frame
  uint64_t plain_left_ = 0;        // of the frame, when it is not packed
  std::string ready_;
  size_t ready_at_ = 0;
};

}  // namespace heddle::remote
