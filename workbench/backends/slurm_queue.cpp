#include "workbench/backends/slurm_queue.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "base/excerpt.h"
#include "workbench/queue_pause.h"

namespace heddle::workbench {
namespace {

using std::chrono::steady_clock;

/// The queue of a cluster.
struct Queue {
  std::mutex mutex;  // held while Slurm is asked: a second asker takes the first one's answer
  std::optional<steady_clock::time_point> asked;
  std::string refusal;  // squeue's words where it gave no list
  std::vector<remote::SlurmJob> jobs;
};

/// By the login node.
Queue& queue_of(const std::string& node) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Queue>> queues;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Queue>& queue = queues[node];
  if (!queue) queue = std::make_unique<Queue>();
  return *queue;
}

/// Its words with Slurm's times as Unix seconds.
remote::Command with_times(std::vector<std::string> words) {
  words.insert(words.begin(), {"env", remote::kSlurmTimes});
  return {.argv = std::move(words), .deadline = std::chrono::seconds(60)};
}

/// Asks unless it has been asked just now, with or without an answer.
Result<> refresh(remote::Node& node, Queue& queue) {
  const bool is_new = queue.asked && steady_clock::now() - *queue.asked < queue_pause.load();
  if (!is_new) {
    const Result<remote::Completed> printed = node.run(with_times(remote::squeue_words()));
    if (!printed) return fail(printed);
    queue.asked = steady_clock::now();
    queue.refusal = printed->exit_code == 0 ? ""
                    : printed->err.empty()  ? fmt::format("exit code {}", printed->exit_code)
                                            : excerpt(printed->err, 300);
    queue.jobs = remote::jobs_from(printed->out);
  }
  if (queue.refusal.empty()) return {};
  return fail("{}: squeue says: {}; Slurm's controller may be busy or down", node.name(),
              queue.refusal);
}

}  // namespace

Result<std::optional<Queued>> queued_job(remote::Node& node, const std::string& id, bool now) {
  Queue& queue = queue_of(node.name());
  const std::lock_guard lock(queue.mutex);
  if (now) queue.asked.reset();
  if (const Result<> known = refresh(node, queue); !known) return fail(known);
  const auto found = std::ranges::find(queue.jobs, id, &remote::SlurmJob::id);
  if (found == queue.jobs.end() || found->phase() == remote::JobPhase::ended)
    return std::optional<Queued>{};
  return Queued{*found, remote::position_of(*found, queue.jobs)};
}

Result<std::vector<remote::SlurmJob>> queued_jobs(remote::Node& node) {
  Queue& queue = queue_of(node.name());
  const std::lock_guard lock(queue.mutex);
  if (const Result<> known = refresh(node, queue); !known) return fail(known);
  return queue.jobs;
}

Result<std::string> queue_text(remote::Node& node, const std::string& partition) {
  Queue& queue = queue_of(node.name());
  const std::lock_guard lock(queue.mutex);
  if (const Result<> known = refresh(node, queue); !known) return fail(known);
  const auto count = [&](remote::JobPhase phase) {
    return std::ranges::count_if(queue.jobs, [&](const remote::SlurmJob& job) {
      return job.partition == partition && job.phase() == phase;
    });
  };
  return fmt::format("{} running, {} waiting in {}", count(remote::JobPhase::running),
                     count(remote::JobPhase::waiting), partition);
}

Result<std::optional<remote::EndedJob>> ended_job(remote::Node& node, const std::string& id) {
  const auto shown = node.run(with_times({"scontrol", "-o", "show", "job", id}));
  if (!shown) return fail(shown);
  if (auto job = remote::ended_from_scontrol(shown->out)) return job;
  // A controller that does not answer says nothing about the job.
  if (shown->err.find("Invalid job id") == std::string::npos)
    return fail("{}: scontrol says: {}; Slurm's controller may be busy or down", node.name(),
                excerpt(shown->err, 300));
  // The job is too long ago; there may be no accounting either.
  const auto listed =
      node.run(with_times({"sacct", "-n", "-P", "-X", "-j", id, "-o", "State,ExitCode,Reason"}));
  if (!listed) return fail(listed);
  return remote::ended_from_sacct(listed->out);
}

void forget_queue(const remote::Node& node) {
  Queue& queue = queue_of(node.name());
  const std::lock_guard lock(queue.mutex);
  queue.asked.reset();
}

}  // namespace heddle::workbench
