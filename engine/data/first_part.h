// The first part of a text, tokenized: an estimate of the whole text's tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/data/token_store.h"

namespace heddle::data {

struct FirstPart {
  std::vector<int32_t> ids;
  std::vector<uint64_t> begins;         // which of them begin documents
  std::vector<std::string> complaints;  // of documents that cannot be read
  bool all = false;                     // there is no more of the text
  // Counts of the whole text: exact where `all`, else guessed from this part's share of its bytes.
  int64_t tokens = 0;
  int64_t documents = 0;
};

/// Reads some megabytes, or until there are so many tokens. Errors begin with the recipe key.
Result<FirstPart> read_first_part(const StoreOrigin& origin, int64_t tokens);

}  // namespace heddle::data
