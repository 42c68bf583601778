// What a Slurm cluster has, for people: nodes, and their own jobs.
#include <algorithm>

#include "base/excerpt.h"
#include "workbench/backends/slurm.h"
#include "workbench/backends/slurm_queue.h"

namespace heddle::workbench {
namespace {

/// A command's output; its fault names it.
Result<std::string> printed_by(remote::Node& node, std::vector<std::string> words) {
  const std::string name = words[0];
  const auto done = node.run({.argv = std::move(words), .deadline = std::chrono::seconds(60)});
  if (!done) return fail(done);
  if (done->exit_code == 0) return done->out;
  return fail(
      "{}: {} says: {}; Slurm's controller may be busy or down", node.name(), name,
      done->err.empty() ? fmt::format("exit code {}", done->exit_code) : excerpt(done->err, 300));
}

std::string line_of(std::string text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<std::optional<ClusterNow>> SlurmCluster::cluster(const remote::Target& target,
                                                        remote::Node& node) const {
  ClusterNow now;
  const auto software = printed_by(node, {"sbatch", "--version"});
  if (!software) return fail(software);
  now.version = line_of(*software);  // "slurm 22.05.8", Debian's "slurm-wlm 22.05.8"
  now.version.erase(0, now.version.rfind(' ') + 1);
  const auto partitions = printed_by(node, remote::sinfo_words());
  if (!partitions) return fail(partitions);
  const auto all = remote::partitions_from(*partitions);
  const auto usual = std::ranges::find_if(all, &remote::PartitionNodes::is_default);
  const std::string default_partition = usual == all.end() ? "" : usual->partition;
  now.partition = target.job->partition.empty() ? default_partition : target.job->partition;
  const auto shown = printed_by(node, remote::show_nodes_words());
  if (!shown) return fail(shown);
  now.nodes = remote::nodes_in(*target.job, default_partition, remote::cluster_nodes_from(*shown));
  const auto user = printed_by(node, {"id", "-un"});
  if (!user) return fail(user);
  auto jobs = queued_jobs(node);
  if (!jobs) return fail(jobs);
  const std::string me = line_of(*user);
  for (const remote::SlurmJob& job : *jobs)
    if (job.user == me && job.phase() != remote::JobPhase::ended)
      now.jobs.push_back({job, remote::position_of(job, *jobs)});
  return now;
}

}  // namespace heddle::workbench
