// Where tokens of texts are kept, tokenized once for all ranks and runs of a host.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/data/chunks.h"
#include "engine/data/document_choice.h"
#include "engine/data/source_files.h"
#include "engine/data/store_use.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// A store's origin: any difference makes it another store.
struct StoreOrigin {
  std::vector<SourceFile> files;
  std::string skipped;  // what the folders hold besides, in words
  TokenizerChoice tokenizer;
  DocumentChoice choice;
  std::string cache;  // the folder of stores

  std::string id;      // a hash of all the above that tells stores apart, 32 hexadecimal digits
  std::string record;  // the same as JSON, for people
  std::string folder() const { return cache + "/" + id; }
};

/// Looks at the texts and the tokenizer's file. A text is identified by its path, its size and when
/// it was last changed; a small one by what it holds, too, since it may be rewritten within a tick
/// of the clock. Reading a terabyte to hash it would take the hours that a store saves.
Result<StoreOrigin> store_origin(const recipe::Data& data, Part part = Part::training);

/// This host's own cache of stores: where `data.cache` is empty.
Result<std::string> default_cache();

/// A store is a folder of shards, one after the other, each whole or not there. All but the last
/// hold `tokens_of_shard`: the first are small, since training begins with them.
int64_t tokens_of_shard(int64_t shard);
/// The shard that a token is in, and the first token of a shard.
int64_t shard_of(int64_t token);
int64_t first_of_shard(int64_t shard);
std::string shard_path(const std::string& folder, int64_t shard);
std::string whole_path(const std::string& folder);
std::string lock_path(const std::string& folder);
/// StoreOrigin::record.
std::string sources_path(const std::string& folder);
/// Why the last one who built it gave up.
std::string failure_path(const std::string& folder);

/// A shard's file: this, the ids as 16 or 32 bits each, then a bit for each token, set where a
/// document begins. Little-endian.
struct ShardHeader {
  std::array<char, 8> magic = {'H', 'D', 'L', 'T', 'O', 'K', '1', '\n'};
  uint64_t token_bytes = 0;
  uint64_t tokens = 0;
  uint64_t hash = 0;  // XXH3 of all that follows the header
  // The position read up to the chunk where the next shard goes on, and how many tokens of that
  // chunk are in shards already.
  ChunkPlace place;
  uint64_t taken = 0;
  uint64_t documents = 0;
  uint64_t skipped = 0;
  uint64_t bytes = 0;  // of text

  uint64_t boundaries_at() const { return sizeof(ShardHeader) + tokens * token_bytes; }
  uint64_t file_bytes() const { return boundaries_at() + (tokens + 7) / 8; }
};

/// Reads and checks it against the file's size.
Result<ShardHeader> read_shard_header(const std::string& path);

/// The content of a whole store.
struct StoreTotals {
  int64_t tokens = 0;
  int64_t documents = 0;
  int64_t skipped = 0;  // documents that could not be read
  int64_t bytes = 0;    // of text
};

/// Fails where somebody else could have put stores there, or another folder in the cache's place.
Result<> check_cache(const std::string& cache);
/// The same of a store and of the cache that it is in.
Result<> check_store(const std::string& folder);

/// Nothing where the store is not whole yet. Errors as of check_store, too.
Result<std::optional<StoreTotals>> read_totals(const std::string& folder);

/// A store as its readers see it, while it may still grow. Tokens are read from the files, which
/// the page cache shares among ranks; nothing of them stays with the reader. It is in use as soon
/// as it is there. Threads: any.
class TokenStore {
 public:
  explicit TokenStore(StoreOrigin origin) : origin_(std::move(origin)) {}
  TokenStore(const TokenStore&) = delete;

  const StoreOrigin& origin() const { return origin_; }

  /// Waits until there are so many tokens, or the store is whole; how many there are. An error
  /// where nobody goes on building it.
  Result<int64_t> await(int64_t tokens);
  /// All there will be; none: it is not whole yet, as far as `await` has looked.
  std::optional<StoreTotals> totals() const;

  /// The ids from `at` on, which are there, and a flag for each: a document begins with it.
  Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const;

 private:
  Result<> look();

  StoreOrigin origin_;
  mutable std::mutex mutex_;
  StoreUse use_;
  int64_t shards_ = 0;
  int64_t tokens_ = 0;
  std::optional<StoreTotals> totals_;
};

}  // namespace heddle::data
