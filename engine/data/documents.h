// A chunk's documents.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/data/chunks.h"

namespace heddle::data {

/// A document, or a part of one that plain text was cut into.
struct DocumentPart {
  std::string_view text;
  bool begins = true;
  bool ends = true;
};

struct DocumentSink {
  /// Where it fails, a line is skipped; plain text is read no further.
  std::function<Result<>(const DocumentPart&)> take;
  /// Why a document cannot be read: "FILE:LINE: why", for Parquet "FILE: row N: why".
  std::function<void(std::string complaint)> skip;
};

/// Hands on what a chunk holds: of JSON and Parquet each line that is not blank, which is an object
/// with a text in `field`.
Result<> for_each_document(const Chunk& chunk, const std::string& field, const DocumentSink& sink);

}  // namespace heddle::data
