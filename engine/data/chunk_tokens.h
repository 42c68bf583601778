// A chunk of text to tokens, and where plain text may be cut.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/chunks.h"
#include "engine/data/document_choice.h"
#include "engine/data/tokenizer.h"

namespace heddle::data {

struct ChunkTokens {
  ChunkPlace place;                     // the chunk's
  std::vector<int32_t> ids;             // each document as BOS + tokens + EOS
  std::vector<uint64_t> begins;         // which of them begin documents
  int64_t documents = 0;                // that begin in it
  bool goes_on = false;                 // its last document does in the next chunk
  int64_t bytes = 0;                    // of text
  std::vector<std::string> complaints;  // a line for each document that cannot be read
};

/// The tokens of a chunk's chosen documents (without regard to
/// `choice.most`). An error names the file.
Result<ChunkTokens> tokens_of(const Chunk& chunk, const DocumentChoice& choice,
                              Tokenizer& tokenizer);

/// Whether the ids around a place are the ids of the text before it, then of the text after it:
/// a document may then be tokenized in two parts there. This holds wherever one of the tokenizer's
/// pieces ends, since a piece's ids depend on the text nearby alone.
bool parts_at(std::string_view text, size_t at, Tokenizer& tokenizer);

}  // namespace heddle::data
