// The token stores of a cache: which there are, and removing them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::data {

/// The present state of the texts that a store was made from.
enum class TextsNow { as_they_were, changed, gone };

struct StoredTokens {
  std::string id;
  uint64_t bytes = 0;  // on disk
  int64_t used = 0;    // last, in seconds since 1970
  bool in_use = false;
  bool whole = false;
  TextsNow texts = TextsNow::gone;
  std::vector<std::string> paths;  // of the texts
};

/// The cache's stores, what was used last first. What is no store is left out; a folder that is not
/// there has none.
Result<std::vector<StoredTokens>> stores_in(const std::string& cache);

/// Removes a store; false: it is in use, or nobody can tell.
Result<bool> remove_store(const std::string& cache, const std::string& id);

}  // namespace heddle::data
