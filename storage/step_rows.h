// Step records in the order in which they came in, from their rows, or from blocks and chunks.
// Throws SQLite::Exception.
#pragma once

#include <vector>

#include "storage/connection.h"
#include "storage/queries.h"

namespace heddle::storage {

/// See Reader::steps_after.
std::vector<StepRow> read_steps(Connection& connection, RunId run, int64_t after_id, size_t limit);

}  // namespace heddle::storage
