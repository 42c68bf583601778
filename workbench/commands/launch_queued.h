// `launch` of a sweep or of a run that waits: into the queue and, with --wait, to the end.
#pragma once

#include "workbench/commands/command.h"
#include "workbench/queue.h"

namespace heddle::workbench {

/// The runs of a command line; one where no key has several values.
Result<Enqueuing> enqueuing_of(storage::Reader& reader, const LaunchRequest& base,
                               const LaunchOptions& options);

/// Puts them into the queue and says who starts them; `wait`: see watch_queue. Gives the exit code.
int launch_queued(const Context& context, const Enqueuing& wanted, bool wait);

/// Starts the runs, unless another process does, and prints what becomes of them until all have
/// ended. Ctrl+C takes those that wait out of the queue and asks the others to stop; a second one
/// leaves them to themselves. The exit code: 1 where one failed or was lost.
Result<int> watch_queue(const std::string& store_path, std::vector<storage::RunId> runs);

}  // namespace heddle::workbench
