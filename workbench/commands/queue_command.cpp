// heddle queue [--first RUN] [--work] [--json]
// heddle queue hold RUN | release RUN | change RUN [--time T] [--partition P] [--qos Q] [--nice N]
#include <fmt/format.h>

#include "base/json_text.h"
#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/launch_queued.h"
#include "workbench/control.h"

namespace heddle::workbench {
namespace {

using Runs = std::vector<storage::RunSummary>;

/// Runs whose jobs wait in a batch system's queue.
Result<Runs> waiting_jobs(storage::Reader& reader) {
  auto runs = reader.unfinished_runs();
  if (runs)
    std::erase_if(*runs, [](const auto& run) { return run.state != storage::RunState::waiting; });
  return runs;
}

std::string jobs_table(const Runs& runs) {
  std::vector<std::vector<std::string>> rows{{"ID", "NAME", "TARGET", "ITS JOB"}};
  for (const storage::RunSummary& run : runs)
    rows.push_back({std::to_string(run.id), run.name, run.target, run.cause});
  return table(std::move(rows), {0}, {.names = {1, 2}, .columns = terminal_columns()});
}

std::string queue_table(const std::vector<storage::QueuedRun>& queue) {
  std::vector<std::vector<std::string>> rows{
      {"", "ID", "NAME", "TARGET", "AT ONCE", "GROUP", "TROUBLE"}};
  for (const storage::QueuedRun& run : queue)
    rows.push_back({std::to_string(rows.size()), std::to_string(run.run), run.name, run.target,
                    std::to_string(run.waiting.at_once), run.group, run.trouble});
  return table(std::move(rows), {0, 1, 4}, {.names = {2, 3, 5, 6}, .columns = terminal_columns()});
}

nlohmann::json queue_json(const std::vector<storage::QueuedRun>& queue, const Runs& jobs) {
  auto json = nlohmann::json::array();
  for (const storage::QueuedRun& run : queue)
    json.push_back({{"id", run.run},
                    {"name", run.name},
                    {"target", run.target},
                    {"group", run.group},
                    {"at_once", run.waiting.at_once},
                    {"mode", run.waiting.mode},
                    {"trouble", run.trouble}});
  for (const storage::RunSummary& run : jobs)
    json.push_back({{"id", run.id},
                    {"name", run.name},
                    {"target", run.target},
                    {"group", run.group},
                    {"waits", run.cause}});
  return json;
}

/// Lets the run be the next one of its target.
Result<> put_first(const Context& context, storage::Reader& reader, const std::string& name) {
  const Result<storage::RunDetail> run = find_run(reader, name);
  if (!run) return fail(run);
  if (run->summary.state != storage::RunState::queued)
    return fail("{} is {}: it does not wait; heddle queue lists those that do", run->summary.name,
                storage::to_string(run->summary.state));
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return fail(writer);
  return (*writer)->reorder_queue({run->summary.id}).get();
}

}  // namespace

int queue_command(const Context& context, const QueueOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    if (!options.first.empty())
      if (const Result<> moved = put_first(context, reader, options.first); !moved)
        return report(moved.error(), kExitUsage);
    const auto queue = reader.queue();
    if (!queue) return fail(queue);
    if (options.work) {
      std::vector<storage::RunId> runs;
      for (const storage::QueuedRun& run : *queue) runs.push_back(run.run);
      return watch_queue(context.store, runs);
    }
    const auto jobs = waiting_jobs(reader);
    if (!jobs) return fail(jobs);
    if (options.json)
      say("{}\n", json_text(queue_json(*queue, *jobs), 2));
    else if (queue->empty() && jobs->empty())
      say("No run waits; heddle launch RECIPE --queue makes one wait.\n");
    if (options.json) return kExitDone;
    if (!queue->empty()) say("{}", queue_table(*queue));
    if (!queue->empty() && !jobs->empty()) say("\n");
    if (!jobs->empty()) say("{}", jobs_table(*jobs));
    return kExitDone;
  });
}

int change_job_command(const Context& context, const JobOptions& options) {
  using Hold = JobChange::Hold;
  const JobChange& change = options.change;
  const bool is_empty = change.hold == Hold::keep && change.time_limit.empty() &&
                        change.partition.empty() && change.qos.empty() && !change.nice;
  if (is_empty)
    return report({"nothing to change; valid: --time, --partition, --qos, --nice"}, kExitUsage);
  using Run = storage::RunDetail;
  return with_run(context, options.run, [&](storage::Reader&, const Run& run) -> Result<int> {
    if (const Result<> changed = change_job(run, change); !changed) return fail(changed);
    say("{}: its job is {}\n", run.summary.name,
        change.hold == Hold::hold      ? "held; heddle queue release lets it start"
        : change.hold == Hold::release ? "released"
                                       : "changed");
    return kExitDone;
  });
}

}  // namespace heddle::workbench
