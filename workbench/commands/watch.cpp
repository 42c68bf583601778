#include "workbench/commands/watch.h"

#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/say.h"
#include "engine/recipe/parse.h"
#include "engine/telemetry/lines.h"
#include "storage/queries.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/interrupts.h"
#include "workbench/lost_hosts.h"

namespace heddle::workbench {
namespace {

constexpr std::chrono::milliseconds kWatchLook{200};

/// The steps that a recipe asks for; 0 where it cannot be read.
int64_t recipe_steps(const std::string& recipe) {
  const recipe::Parsed parsed = recipe::parse(recipe, "recipe.toml");
  return parsed.ok() ? parsed.recipe.training.steps : 0;
}

/// Prints news since the last look: the last one of many steps.
class Printer {
 public:
  Printer(storage::Reader& reader, storage::RunId run) : reader_(reader), run_(run) {}

  Result<> print(const storage::RunDetail& run) {
    if (steps_ == 0) steps_ = recipe_steps(run.recipe);
    if (Result<> printed = print_lines(); !printed) return printed;
    if (Result<> printed = print_steps(); !printed) return printed;
    fflush(stdout);
    return {};
  }

 private:
  Result<> print_lines() {
    for (;;) {
      const auto lines = reader_.lines_after(run_, line_);
      if (!lines) return fail(lines);
      if (lines->empty()) return {};
      for (const storage::LogLine& line : *lines) {
        line_ = line.id;
        say("{}{}\n", telemetry::speaker(line.rank),
            telemetry::log_text({line.time, line.level, line.text}));
      }
    }
  }

  Result<> print_steps() {
    std::optional<telemetry::Step> last;
    for (;;) {
      auto rows = reader_.steps_after(run_, step_);
      if (!rows) return fail(rows);
      if (rows->empty()) break;
      for (storage::StepRow& row : *rows) {
        step_ = row.id;
        if (row.rank != 0) continue;
        pace_.add(row.step);
        last = std::move(row.step);
      }
    }
    if (last) say("{}\n", telemetry::step_text(*last, steps_, pace_.seconds_left(steps_)));
    return {};
  }

  storage::Reader& reader_;
  storage::RunId run_;
  int64_t line_ = 0;
  int64_t step_ = 0;
  int64_t steps_ = 0;  // of the whole run; 0: not known
  telemetry::Pace pace_;
};

/// Calls `changed` with the run whenever something has come in, until the run has ended and will
/// not go on by itself; `idle` several times a second. Gives the ended run.
template <typename Changed, typename Idle>
Result<storage::RunDetail> until_ended(storage::Reader& reader, storage::RunId run, Changed changed,
                                       Idle idle) {
  for (bool ended = false;;) {
    idle();
    const Result<bool> news = reader.changed();
    if (!news) return fail(news);
    if (!*news) {
      std::this_thread::sleep_for(kWatchLook);
      continue;
    }
    // The state is read before the rows: an ended run's rows are all there.
    Result<storage::RunDetail> detail = reader.run(run);
    if (!detail) return fail(detail);
    if (Result<> shown = changed(*detail); !shown) return fail(shown);
    if (!storage::has_ended(detail->summary.state)) continue;
    if (std::exchange(ended, true) && loss_of(*detail).goes_on_soon) continue;
    say("{} is {}\n", detail->summary.name, end_text(detail->summary));
    fflush(stdout);
    if (!loss_of(*detail).goes_on_soon) return detail;
  }
}

}  // namespace

int exit_code_of(storage::RunState state) {
  if (state == storage::RunState::done) return kExitDone;
  return state == storage::RunState::stopped ? kExitStopped : kExitFailed;
}

std::string end_text(const storage::RunSummary& run) {
  std::string text = fmt::format("{} after {} steps", storage::to_string(run.state),
                                 count_text(static_cast<double>(run.steps)));
  if (run.loss) text += ", loss " + loss_text(*run.loss);
  if (const auto& rate = run.tokens_per_second_per_rank)
    text += ", " + rate_text(*rate) + " a rank";
  if (!run.cause.empty()) text += ": " + run.cause;
  return text;
}

Result<int> watch(const std::string& store_path, storage::RunId run,
                  const std::function<void(storage::RunId)>& interrupted) {
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  std::optional<Interrupts> interrupts;
  if (interrupted) interrupts.emplace();
  for (;;) {
    Printer printer(*reader, run);
    const auto ended = until_ended(
        *reader, run, [&](const storage::RunDetail& detail) { return printer.print(detail); },
        [&] {
          if (interrupts && interrupts->take()) interrupted(run);
        });
    if (!ended) return fail(ended);
    const storage::RunId next = loss_of(*ended).goes_on_as;
    if (next == 0) return exit_code_of(ended->summary.state);
    run = next;
    reader = storage::Reader::open(store_path);  // whose first look is news
    if (!reader) return fail(reader);
  }
}

Result<int> await_end(const std::string& store_path, storage::RunId run) {
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  const auto ended = until_ended(
      *reader, run, [](const auto&) { return Result<>(); }, [] {});
  return ended ? Result<int>(exit_code_of(ended->summary.state)) : fail(ended);
}

}  // namespace heddle::workbench
