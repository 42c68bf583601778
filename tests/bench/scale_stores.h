// Stores of the sizes that people have, filled by the writer that real runs use.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/writer.h"

namespace heddle::bench {

/// Logs `steps` steps of rank 0 with `metrics` values each ("loss", "tokens_per_second",
/// "metric.2" …), `batch` records an ingest, from step `first` on at `offset` of the log. Leaves
/// the run going on. Returns the offset after them. Ends the program at an error, as all of this
/// file does.
uint64_t feed_steps(storage::Writer& writer, storage::RunId run, int64_t steps, int metrics,
                    int64_t batch, int64_t first = 1, uint64_t offset = 0);

/// The same from bytes made ahead, for rates that encoding would limit.
std::string encoded_steps(storage::RunId run, int64_t steps, int metrics, int64_t first);

struct ScaleShape {
  const char* name;   // as in `scale_window runs FOLDER`
  const char* words;  // "10,000 runs x 2,000 keys"
  void (*fill)(storage::Writer& writer);
};

std::span<const ScaleShape> scale_shapes();

/// Makes `path` a store of that shape, unless it is there already.
void make_scale_store(const ScaleShape& shape, const std::string& path);

}  // namespace heddle::bench
