// Run directories made elsewhere, as runs of the store.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/writer.h"

namespace heddle::workbench {

/// Takes in a finished run's directory (launch.json, recipe.toml, *.hlog, end.json) as a new run
/// called `name`, or when that is empty as it was launched. Needs the ingest lease.
Result<storage::CreatedRun> import_run(storage::Writer& writer, const std::string& run_dir,
                                       const std::string& name = {});

}  // namespace heddle::workbench
