// The bytes of a text file, from its start to its end, as they are read: unpacked, and lists and
// tables as lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/data/source_files.h"

namespace heddle::data {

/// One thread. Errors begin with the file's path.
class ByteStream {
 public:
  /// JSON and Parquet: each document on a line; `field` is Parquet's column.
  static Result<std::unique_ptr<ByteStream>> open(const SourceFile& file, const std::string& field);
  virtual ~ByteStream() = default;

  /// Appends the next bytes, at most so many; false: there are none left.
  virtual Result<bool> read(std::string& bytes, size_t most) = 0;
  /// Passes over the next bytes.
  virtual Result<> skip(uint64_t count);
};

}  // namespace heddle::data
