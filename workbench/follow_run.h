// Follows one run from the store's cursors to its end.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "storage/queries.h"
#include "storage/writer.h"

namespace heddle::workbench {

/// Returns when the run has ended (and all of it is in the store) or `stop` is requested. A host
/// that cannot be reached, or a store that cannot be written, is tried again with growing pauses.
/// `changed` is called after rows have changed. The writer must have the ingest lease.
void follow_run(const std::string& store_path, storage::Writer& writer,
                const storage::RunDetail& run, const std::function<void()>& changed,
                std::stop_token stop);

}  // namespace heddle::workbench
