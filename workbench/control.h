// Requests to a launched run. All of them go to the run's hosts and block.
#pragma once

#include "base/result.h"
#include "storage/run.h"
#include "storage/writer.h"
#include "workbench/backend.h"

namespace heddle::workbench {

/// Asks the ranks to finish the next step, write the checkpoint and end; they are killed after the
/// launch's grace. The run ends as stopped when the follower sees its end.
Result<> stop(const storage::RunDetail& run);

/// Kills the ranks at once.
Result<> kill(const storage::RunDetail& run);

/// Asks the ranks to write a checkpoint when they have done their step, and to go on.
Result<> checkpoint(const storage::RunDetail& run);

/// Holds, releases or changes the job of a run that waits in a batch system's queue.
Result<> change_job(const storage::RunDetail& run, const JobChange& change);

/// Removes an ended or queued run for good: its directories on the hosts, then its rows. A host
/// that cannot be reached leaves the run as it is; so does a run that is about to begin with its
/// checkpoint.
Result<> remove(storage::Writer& writer, const storage::RunDetail& run);

}  // namespace heddle::workbench
