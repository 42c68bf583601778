// Which files a recipe's texts stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::data {

/// How a file's documents are written: all of it is one; each line is one, as JSON; each element of
/// a list of JSON, or line; or each row of a Parquet file.
enum class TextKind { plain, json_lines, json, parquet };
enum class Packing { none, gzip, zstd };

struct TextFormat {
  TextKind kind = TextKind::plain;
  Packing packing = Packing::none;
  bool operator==(const TextFormat&) const = default;
};

/// By the end of its name (.txt, .jsonl, .json, behind them .gz or .zst; .parquet); none: it is no
/// text.
std::optional<TextFormat> text_format(const std::string& path);

/// A text file, and what tells whether it is still the same.
struct SourceFile {
  std::string path;
  TextFormat format;
  uint64_t size = 0;
  int64_t changed = 0;  // nanoseconds since 1970
  bool operator==(const SourceFile&) const = default;
};

/// A file as it is now.
Result<SourceFile> look_at(const std::string& path);

struct Sources {
  std::vector<SourceFile> files;
  std::string skipped;  // the files that are left out of folders, in words; empty: none
};

/// The text files that paths stand for: themselves; for a folder all below it, in the order of
/// their paths; for a pattern (*, ?, […]) all that it matches, in that order, too. Hidden files and
/// folders, and links that lead out of a folder, are left out unless they are named. Where a path
/// names a file, its characters are no pattern.
Result<Sources> find_sources(const std::vector<std::string>& paths);

}  // namespace heddle::data
