// What Slurm says of its jobs: asked once for all jobs of a cluster, at most every ten seconds. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/node.h"
#include "remote/slurm.h"

namespace heddle::workbench {

/// A job as the queue has it.
struct Queued {
  remote::SlurmJob job;
  int64_t position = 0;  // among those that wait in its partition; 0: it does not
};

/// The job as it was within the last ten seconds; `now`: ask Slurm at once. Nothing: it is not in
/// the queue.
Result<std::optional<Queued>> queued_job(remote::Node& node, const std::string& id,
                                         bool now = false);

/// All jobs of the cluster, of all users, as they were within the last ten seconds.
Result<std::vector<remote::SlurmJob>> queued_jobs(remote::Node& node);

/// "3 running, 12 waiting in train".
Result<std::string> queue_text(remote::Node& node, const std::string& partition);

/// Slurm's record of a job that has left the queue: from scontrol, else from sacct where there
/// is an accounting database.
Result<std::optional<remote::EndedJob>> ended_job(remote::Node& node, const std::string& id);

/// From now on what was asked before is not taken for an answer: a job has been changed.
void forget_queue(const remote::Node& node);

}  // namespace heddle::workbench
