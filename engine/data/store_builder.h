// Texts tokenized into a store, on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "base/result.h"
#include "engine/data/store_progress.h"
#include "engine/data/token_store.h"

namespace heddle::data {

struct BuildOptions {
  int jobs = 0;                                          // threads; 0: as many as cores
  int64_t shards = std::numeric_limits<int64_t>::max();  // enough are there: it ends, to be gone on
  double skip_limit = 0;  // share of the documents that may be unreadable
  std::function<void(const StoreProgress&)> progress = {};  // once a second or so
};

/// Makes what is missing of a store; nothing where it is whole. Where another process is at it,
/// waits for that one's end, and goes on where it was if that one has died. A process that is
/// killed leaves whole shards, from which the next one goes on. Errors begin with the recipe key.
Result<> build_store(const StoreOrigin& origin, const BuildOptions& options);

}  // namespace heddle::data
