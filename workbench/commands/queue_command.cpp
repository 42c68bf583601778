// heddle queue [--first RUN] [--work] [--json]
#include <fmt/format.h>

#include "base/json_text.h"
#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/launch_queued.h"

namespace heddle::workbench {
namespace {

std::string queue_table(const std::vector<storage::QueuedRun>& queue) {
  std::vector<std::vector<std::string>> rows{
      {"", "ID", "NAME", "TARGET", "AT ONCE", "GROUP", "TROUBLE"}};
  for (const storage::QueuedRun& run : queue)
    rows.push_back({std::to_string(rows.size()), std::to_string(run.run), run.name, run.target,
                    std::to_string(run.waiting.at_once), run.group, run.trouble});
  return table(std::move(rows), {0, 1, 4}, {.names = {2, 3, 5, 6}, .columns = terminal_columns()});
}

nlohmann::json queue_json(const std::vector<storage::QueuedRun>& queue) {
  auto json = nlohmann::json::array();
  for (const storage::QueuedRun& run : queue)
    json.push_back({{"id", run.run},
                    {"name", run.name},
                    {"target", run.target},
                    {"group", run.group},
                    {"at_once", run.waiting.at_once},
                    {"mode", run.waiting.mode},
                    {"trouble", run.trouble}});
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
    if (options.json)
      say("{}\n", json_text(queue_json(*queue), 2));
    else if (queue->empty())
      say("No run waits; heddle launch RECIPE --queue makes one wait.\n");
    else
      say("{}", queue_table(*queue));
    return kExitDone;
  });
}

}  // namespace heddle::workbench
