#include "workbench/ending.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "engine/recipe/parse.h"
#include "storage/difference.h"
#include "workbench/backend.h"
#include "workbench/checkpoints.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

recipe::Checkpoint checkpoint_of(const storage::RunDetail& run) {
  return recipe::parse(run.recipe, run.summary.name).recipe.checkpoint;
}

std::string steps_of(const storage::RunDetail& run) {
  return run.summary.steps == 1 ? "the step" : fmt::format("all {} steps", run.summary.steps);
}

/// Where its checkpoints go, by the run's row alone; empty: not known yet.
std::string folder_of(const storage::RunDetail& run) {
  const auto place = place_from_json(run.hosts);
  if (!place || place->shares.empty()) return {};
  const remote::Host& host = place->target.hosts[0];
  const std::string folder =
      checkpoint_folder(checkpoint_of(run), place->target, place->shares[0].run_dir());
  return backend_of(place->target).located(folder, host);
}

}  // namespace

bool stop_keeps(const storage::RunDetail& run) {
  return run.summary.state == storage::RunState::queued || checkpoint_of(run).enabled;
}

std::string describe_stop(const storage::RunDetail& run) {
  if (run.summary.state == storage::RunState::queued)
    return "It has not begun: it leaves the queue.";
  if (!stop_keeps(run))
    return fmt::format(
        "It finishes its step and ends. It keeps no checkpoints (checkpoint.enabled is false): {} "
        "of training are lost.",
        steps_of(run));
  const std::string folder = folder_of(run);
  const std::string where = folder.empty() ? "" : " in " + folder;
  // It may have done steps that are not in the store yet.
  if (run.summary.steps == 0)
    return fmt::format(
        "Before its first step it just ends: there is nothing to keep. After that it "
        "finishes its step, writes a checkpoint{}, and ends; it can be resumed.",
        where);
  return fmt::format("It finishes its step, writes a checkpoint{}, and ends; it can be resumed.",
                     where);
}

std::string describe_kill(const storage::RunDetail& run) {
  if (run.summary.state == storage::RunState::queued) return describe_stop(run);
  const std::string at_once = "All ranks end at once. ";
  if (!stop_keeps(run))
    return at_once + fmt::format(
                         "The run keeps no checkpoints (checkpoint.enabled is false): {} of "
                         "training are lost.",
                         steps_of(run));
  const auto checkpoints = RunCheckpoints::open(run);
  if (!checkpoints)
    return at_once + fmt::format(
                         "Training since its newest checkpoint is lost; which that is cannot be "
                         "seen: {}.",
                         checkpoints.error().message);
  if (checkpoints->saved().empty())
    return at_once + fmt::format(
                         "There is no checkpoint yet: {} of training are lost. Stop writes "
                         "one.",
                         steps_of(run));
  return at_once + fmt::format(
                       "Training since step {}, the newest checkpoint, is lost; Stop "
                       "writes one more.",
                       checkpoints->saved().front().step);
}

std::string describe_restarts(const storage::RunDetail& run) {
  const auto found = run.results.find("restarts");
  const double times =
      found == run.results.end() ? 0 : storage::number_of(found->second).value_or(0);
  if (times < 1) return {};
  const std::string how_often = times == 1 ? "once" : count_text(times) + " times, last";
  const auto cause = run.environment.find("restarted_after");
  const auto* text =
      cause == run.environment.end() ? nullptr : std::get_if<std::string>(&cause->second);
  return fmt::format("restarted {}{}", how_often, text ? " after: " + *text : "");
}

std::string describe_stopped(const storage::RunDetail& run) {
  const std::string after =
      fmt::format("after step {}; ", count_text(static_cast<double>(run.summary.steps)));
  if (!stop_keeps(run)) return after + "it keeps no checkpoints (checkpoint.enabled is false)";
  const auto checkpoints = RunCheckpoints::open(run);
  if (!checkpoints) return after + "its checkpoints cannot be seen: " + checkpoints.error().message;
  if (checkpoints->saved().empty()) return after + "no checkpoint was written";
  const remote::Target& target = checkpoints->place().target;
  return after + fmt::format("checkpoint {} is in {}", checkpoints->saved().front().name,
                             backend_of(target).located(checkpoints->folder(), target.hosts[0]));
}

}  // namespace heddle::workbench
