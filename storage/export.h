// A run as files for other programs.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::storage {

/// Writes into `folder` (made when absent):
///   metrics.csv  a row per step and rank, a column per metric
///   trace.json   Chrome trace JSON of all timelines: process = rank, thread = stream
///   recipe.toml  the recipe as launched
/// Files of these names are replaced, each only once it is complete.
Result<> export_run(Reader& reader, RunId run, const std::string& folder);

}  // namespace heddle::storage
