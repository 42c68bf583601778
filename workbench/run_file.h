// A run as one file, to be sent to somebody: a store of one run, which `heddle import` takes in.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::workbench {

/// Writes the ended run of the store to a new file.
Result<> export_run_file(const std::string& store, const storage::RunSummary& run,
                         const std::string& file);

}  // namespace heddle::workbench
