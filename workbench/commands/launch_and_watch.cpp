#include "workbench/commands/launch_and_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/watch.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/lost_hosts.h"
#include "workbench/workbench.h"

namespace heddle::workbench {
namespace {

void stop_run(storage::Writer& writer, storage::RunId id) {
  Result<storage::Reader> reader = storage::Reader::open(writer.path());
  if (!reader) {
    report(reader.error());
    return;
  }
  const Result<storage::RunDetail> run = reader->run(id);
  if (!run) {
    report(run.error());
    return;
  }
  const std::string& name = run->summary.name;
  if (const auto kept = keep_from_going_on(writer, *run); !kept || *kept) {
    if (!kept) report(kept.error());
  } else if (!stop_keeps(*run)) {
    say(stderr,
        "{0} keeps no checkpoints, and a stop would lose all that it has trained: it goes on. "
        "heddle stop {0} --discard ends it; Ctrl+C again leaves it running\n",
        name);
  } else if (const Result<> stopped = stop(*run); stopped) {
    say(stderr, "stopping {}; Ctrl+C again leaves it running\n", name);
  } else {
    report(stopped.error());
  }
}

}  // namespace

bool TerminalProgress::operator()(const std::string& what, uint64_t done, uint64_t total) {
  if (what != std::exchange(last_, what)) {
    line_.end();
    line_.show(what);
    if (!isatty(STDERR_FILENO)) say(stderr, "{}\n", what);
  }
  if (total > 0)
    line_.show(fmt::format("{}: {} of {}", what, bytes_text(static_cast<double>(done)),
                           bytes_text(static_cast<double>(total))));
  return true;
}

void TerminalProgress::operator()(const std::vector<Finding>& findings) {
  const std::string lines = lines_of(findings, probe::Status::warn);
  if (lines.empty()) return;
  line_.end();
  say(stderr, "{}\n", lines);
  last_.clear();
}

int report_launch(const LaunchError& error) {
  if (isatty(STDERR_FILENO)) say(stderr, "\n");
  if (!error.faults.empty() || error.refused) {
    say(stderr, "{}\n", error.message);
    return kExitUsage;
  }
  return report(Error{error.message});
}

std::string launched_text(const std::string& store_path, const storage::CreatedRun& run,
                          const std::string& target) {
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  const Result<storage::RunDetail> now = reader ? reader->run(run.id) : fail(reader);
  if (now && now->summary.state == storage::RunState::waiting)
    return fmt::format("{} (run {}) is waiting: its job on {} {}", run.name, run.id, target,
                       now->summary.cause);
  return fmt::format("{} (run {}) is running on {}", run.name, run.id, target);
}

Watched launch_and_watch(const std::string& store_path, const LaunchRequest& request) {
  const auto workbench = Workbench::open(store_path);
  if (!workbench) return {report(workbench.error()), {}};
  TerminalProgress progress;
  const auto run = launch((*workbench)->writer(), request, std::ref(progress), std::ref(progress));
  if (!run) return {report_launch(run.error()), {}};
  if (isatty(STDERR_FILENO)) say(stderr, "\n");
  say("{}\n", launched_text(store_path, *run, request.target.name));
  const Result<int> exit_code =
      watch(store_path, run->id, [&](storage::RunId id) { stop_run((*workbench)->writer(), id); });
  return {exit_code ? *exit_code : report(exit_code.error()), *run};
}

}  // namespace heddle::workbench
