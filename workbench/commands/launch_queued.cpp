#include "workbench/commands/launch_queued.h"

#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "base/say.h"
#include "engine/recipe/parse.h"
#include "storage/lease.h"
#include "workbench/commands/interrupts.h"
#include "workbench/commands/launch_and_watch.h"
#include "workbench/commands/watch.h"
#include "workbench/control.h"
#include "workbench/halving.h"
#include "workbench/lost_hosts.h"
#include "workbench/workbench.h"

namespace heddle::workbench {
namespace {

constexpr std::chrono::milliseconds kQueueLook{200};

std::string runs_wait(size_t runs) {
  return runs == 1 ? "1 run waits" : fmt::format("{} runs wait", runs);
}

/// Prints each change of state of some runs.
class QueuePrinter {
 public:
  void print(const storage::RunSummary& run) {
    std::string text = storage::to_string(run.state);
    if (storage::has_ended(run.state))
      text = end_text(run);
    else if (!run.cause.empty())
      text += ": " + run.cause;
    if (std::exchange(shown_[run.id], text) == text) return;
    if (run.state == storage::RunState::queued && run.cause.empty()) return;
    say("{}: {}\n", run.name, text);
    fflush(stdout);
  }

 private:
  std::map<storage::RunId, std::string> shown_;
};

/// Waiting runs leave the queue, the others are asked to stop.
void end_all(storage::Reader& reader, storage::Writer& writer,
             const std::vector<storage::RunId>& runs) {
  for (const storage::RunId id : runs) {
    const auto run = reader.run(id);
    if (!run) continue;
    if (const auto kept = keep_from_going_on(writer, *run); !kept) report(kept.error());
    if (storage::has_ended(run->summary.state)) continue;
    const Result<> ended =
        run->summary.state == storage::RunState::queued ? writer.take_out(id).get() : stop(*run);
    if (!ended) report(ended.error());
  }
  say(stderr, "stopping; Ctrl+C again leaves the runs to themselves\n");
}

/// How long the shortest run trains; a recipe that cannot be read counts as its defaults.
int64_t fewest_steps(const std::vector<LaunchRequest>& requests) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const LaunchRequest& request : requests)
    fewest = std::min(fewest, recipe::parse(request.recipe_text, request.recipe_file, request.sets)
                                  .recipe.training.steps);
  return fewest;
}

}  // namespace

Result<Enqueuing> enqueuing_of(storage::Reader& reader, const LaunchRequest& base,
                               const LaunchOptions& options) {
  const Result<Sweep> sweep = read_sweep(base.sets, options.sweep);
  if (!sweep) return fail(sweep);
  const auto runs = expand(*sweep);
  if (!runs) return fail(runs);
  auto requests = requests_of(reader, base, *runs);
  if (!requests) return fail(requests);
  Enqueuing wanted{.requests = std::move(*requests), .at_once = options.at_once};
  if (options.halving.empty()) return wanted;
  const Result<HalvingWish> wish = read_halving(options.halving);
  if (!wish) return fail(wish);
  const auto halving = plan_halving(*wish, static_cast<int64_t>(wanted.requests.size()),
                                    fewest_steps(wanted.requests));
  if (!halving) return fail(halving);
  wanted.halving = *halving;
  return wanted;
}

int launch_queued(const Context& context, const Enqueuing& wanted, bool wait) {
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  TerminalProgress progress;
  const auto created = enqueue(**writer, wanted, std::ref(progress));
  if (!created) return report_launch(created.error());
  say("{} for {}, {} at a time{}:\n", runs_wait(created->size()), wanted.requests[0].target.name,
      wanted.at_once, wanted.requests[0].group.empty() ? "" : ", as " + wanted.requests[0].group);
  std::vector<storage::RunId> runs;
  for (const storage::CreatedRun& run : *created) {
    runs.push_back(run.id);
    say("  {} (run {})\n", run.name, run.id);
  }
  if (!wanted.halving.rungs.empty()) say("{}\n", words_of(wanted.halving));
  fflush(stdout);
  if (wait) {
    const Result<int> ended = watch_queue(context.store, runs);
    return ended ? *ended : report(ended.error());
  }
  const Result<bool> followed = storage::Lease::is_held(context.store);
  say("{}\n",
      followed && *followed
          ? "The Heddle that has this store open starts them."
          : "They start as soon as a window has this store open, or by: heddle queue --work");
  return kExitDone;
}

Result<int> watch_queue(const std::string& store_path, std::vector<storage::RunId> runs) {
  // Takes the lease, unless another process starts and follows the runs.
  const auto workbench = Workbench::open(store_path);
  if (!workbench) return fail(workbench);
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  Interrupts interrupts;
  QueuePrinter printer;
  for (bool interrupted = false;;) {
    if (interrupts.take()) {
      interrupted = true;
      end_all(*reader, (*workbench)->writer(), runs);
    }
    const Result<bool> news = reader->changed();
    if (!news) return fail(news);
    if (!*news) {
      std::this_thread::sleep_for(kQueueLook);
      continue;
    }
    bool all_ended = true, all_well = true;
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto run = reader->run(runs[i]);
      if (!run) continue;  // removed meanwhile
      printer.print(run->summary);
      const Loss loss = loss_of(*run);
      all_ended &= storage::has_ended(run->summary.state) && !loss.goes_on_soon;
      if (loss.goes_on_as != 0) {
        if (std::ranges::find(runs, loss.goes_on_as) == runs.end()) runs.push_back(loss.goes_on_as);
        continue;  // whose end counts in its place
      }
      all_well &= exit_code_of(run->summary.state) != kExitFailed;
    }
    if (all_ended) return !all_well ? kExitFailed : interrupted ? kExitStopped : kExitDone;
  }
}

}  // namespace heddle::workbench
