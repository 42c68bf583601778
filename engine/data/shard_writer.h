// One shard being written.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "base/result.h"
#include "engine/data/token_store.h"

namespace heddle::data {

/// Until `finish` the shard is not there. One thread. Errors name the file, and what would help.
class ShardWriter {
 public:
  /// `token_bytes`: 2 or 4.
  static Result<ShardWriter> create(const std::string& folder, int64_t shard, uint64_t token_bytes);

  /// Room for so many tokens is left.
  int64_t room() const { return tokens_of_shard(shard_) - static_cast<int64_t>(tokens_); }
  uint64_t tokens() const { return tokens_; }

  Result<> append(std::span<const int32_t> ids);
  /// A document begins with a token that is appended: the one of this number.
  void begin_document(uint64_t token) { boundaries_[token / 8] |= 1 << token % 8; }
  /// Makes it durable, with what its header says of the sources.
  Result<> finish(ShardHeader header);

 private:
  ShardWriter(NewFile file, std::string path, int64_t shard, uint64_t token_bytes);
  Result<> write(std::string_view bytes);

  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  NewFile file_;
  std::string path_;
  int64_t shard_;
  uint64_t token_bytes_;
  uint64_t tokens_ = 0;
  std::vector<uint8_t> boundaries_;
  std::unique_ptr<XXH3_state_t, FreeState> hash_;
};

/// A small file of the store, written at once; whole or not there, unless `durable` not even after
/// a loss of power.
Result<> write_store_file(const std::string& path, std::string_view text, bool durable);

/// Whether what follows the header is what was written.
Result<> verify_shard(const std::string& path);

}  // namespace heddle::data
