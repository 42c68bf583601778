// Text files cut into chunks, which are tokenized side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/byte_stream.h"
#include "engine/data/source_files.h"

namespace heddle::data {

/// Bytes of a document, or of a part of one that cannot be cut: a book takes some megabytes. All of
/// it is in memory, with its tokens, so nothing larger is.
inline constexpr size_t kMaxDocument = size_t{32} << 20;

/// Where a chunk begins. From the same place on chunks are always cut alike.
struct ChunkPlace {
  uint64_t file = 0;
  uint64_t offset = 0;  // in the file's unpacked bytes
  uint64_t line = 1;    // the chunk's first, of JSON also an element of a list, of Parquet a row
};

/// Plain text: a document, or a part of one. JSON: whole lines. Parquet: rows, as lines of JSON.
struct Chunk {
  ChunkPlace place;
  const SourceFile* file = nullptr;
  std::string bytes;
  bool begins = true;  // of plain text: it is a document's first part, and its last
  bool ends = true;
};

/// Whether a text may be cut at a byte without another outcome.
using MayCut = std::function<bool(std::string_view text, size_t at)>;

/// Reads files one after the other. One thread. A file that changes meanwhile is an error.
class ChunkReader {
 public:
  /// `field`: see ByteStream::open.
  ChunkReader(const std::vector<SourceFile>& files, std::string field, MayCut may_cut)
      : files_(files), field_(std::move(field)), may_cut_(std::move(may_cut)) {}

  /// The next chunk begins there.
  Result<> go_to(const ChunkPlace& place);
  /// None behind the last file.
  Result<std::optional<Chunk>> next();
  /// Where the next chunk begins.
  const ChunkPlace& place() const { return place_; }

 private:
  Result<> open();
  Result<> close();
  Result<> fill(size_t wanted);
  Result<size_t> end_of_text();
  Result<size_t> end_of_lines();
  std::optional<size_t> cut_below(size_t low, size_t high) const;

  const std::vector<SourceFile>& files_;
  std::string field_;
  MayCut may_cut_;
  ChunkPlace place_;
  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;   // read, and in no chunk yet
  bool at_end_ = false;  // of the file: nothing follows the buffer
};

}  // namespace heddle::data
