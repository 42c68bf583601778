#include "engine/train/resume.h"

#include <fmt/ranges.h>

#include <set>
#include <sstream>

#include "engine/checkpoint/load_recipe.h"
#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/recipe/parse.h"
#include "engine/runtime/agreement.h"
#include "engine/step/states.h"

namespace heddle::train {
namespace {

// How one rank fared with a checkpoint.
struct Attempt {
  bool refused = false;  // sound, but not for this run
  std::string fault;     // empty: loaded
};

std::string encoded(const Attempt& attempt) {
  return attempt.fault.empty() ? "" : (attempt.refused ? "!" : "?") + attempt.fault;
}

// The first fault of any rank; a refusal before damage.
Attempt joined(const std::vector<std::string>& all) {
  Attempt worst;
  for (const std::string& text : all)
    if (!text.empty() && (worst.fault.empty() || (text[0] == '!' && !worst.refused)))
      worst = {text[0] == '!', text.substr(1)};
  return worst;
}

std::string recipe_changes(const recipe::Recipe& before, const recipe::Recipe& now) {
  std::vector<std::string> changes;
  for (const auto& [key, old, value] : recipe::changes(before, now))
    if (!key.starts_with("checkpoint.") && !key.starts_with("telemetry."))
      changes.push_back(fmt::format("{} was {}, is {}", key, old, value));
  return fmt::format("{}", fmt::join(changes, "; "));
}

// Whether a place in the order of samples means the same sample.
bool reads_alike(const recipe::Data& one, const recipe::Data& other) {
  return one.text == other.text && one.mix == other.mix && one.token_ids == other.token_ids &&
         one.seq_len == other.seq_len && one.seed == other.seed;
}

Attempt load(const std::string& path, const recipe::Recipe& recipe, int64_t rank,
             const runtime::NamedTensors& states, Beginning& beginning) {
  const auto source = checkpoint::Checkpoint::open(path);
  if (!source) return {false, source.error().message};
  if (auto fits = source->check_resumable(recipe); !fits) return {true, fits.error().message};
  if (auto loaded = step::load_checkpoint(*source, recipe, rank, states); !loaded)
    return {false, loaded.error().message};
  const checkpoint::Manifest& manifest = source->manifest();
  beginning.step = manifest.step;
  beginning.samples = manifest.samples;
  beginning.since =
      reads_alike(manifest.recipe.data, recipe.data) ? manifest.since : manifest.samples;
  beginning.note = fmt::format("goes on after step {} from {}", manifest.step, path);
  if (const std::string changes = recipe_changes(manifest.recipe, recipe); !changes.empty())
    beginning.note += "; the recipe has changed: " + changes;
  if (manifest.step >= recipe.training.steps)
    beginning.note +=
        fmt::format("; nothing is left to train: training.steps is {}, raise it to train on",
                    recipe.training.steps);
  return {};
}

// Where a run that goes on from nothing has its weights from, and what it makes of them.
std::string start_of(const recipe::Model& model) {
  std::string note = "starts with the weights of " + model.checkpoint;
  const auto lines = checkpoint::overridden(model);
  if (lines && !lines->empty())
    note += fmt::format("; the recipe overrides: {}", fmt::join(*lines, "; "));
  return note;
}

// All hosts' steps, newest first.
using Names = std::set<std::string, decltype(&checkpoint::is_newer)>;
Names candidates(const CheckpointPlace& place, int64_t ranks) {
  std::string mine;
  if (place.is_keeper)
    for (const std::string& name : checkpoint::checkpoints_in(place.folder)) mine += name + "\n";
  Names names(&checkpoint::is_newer);
  for (const std::string& text : runtime::gather_texts(mine, ranks)) {
    std::istringstream lines(text);
    for (std::string name; std::getline(lines, name);) names.insert(name);
  }
  return names;
}

// Checkpoints newer than the one taken, all where none was, are damaged, or a crash has left them
// on some hosts alone. Saving these steps again must find their names free, and never mixes two
// saves.
Result<> set_newer_aside(const std::string& folder, const std::optional<std::string>& taken) {
  for (const std::string& name : checkpoint::checkpoints_in(folder))
    if (!taken || checkpoint::is_newer(name, *taken))
      if (auto aside = checkpoint::set_aside(folder + "/" + name); !aside) return aside;
  return {};
}

// From the first of another run's checkpoints that all ranks can load. They stay as they are.
Result<Beginning> begin_with_another(const recipe::Recipe& recipe, const runs::RankContext& context,
                                     const runtime::NamedTensors& states) {
  Beginning beginning;
  for (const std::string& path : context.launch.begin_with) {
    const Attempt attempt = joined(runtime::gather_texts(
        encoded(load(path, recipe, context.rank, states, beginning)), context.launch.world_size));
    if (attempt.refused) return fail("{}", attempt.fault);
    if (attempt.fault.empty()) return beginning;
    beginning.warnings.push_back(attempt.fault);
    beginning = {0, 0, 0, std::move(beginning.warnings), ""};
  }
  return fail("no checkpoint of {} that this run was to begin with is whole ({})",
              context.launch.ancestry.parent, fmt::join(beginning.warnings, "; "));
}

}  // namespace

Result<Beginning> begin(const recipe::Recipe& recipe, const runs::RankContext& context,
                        const std::optional<CheckpointPlace>& place,
                        const runtime::NamedTensors& states) {
  step::fill_tables(recipe, states);
  Beginning beginning;
  const int64_t ranks = context.launch.world_size;
  const Names names = place ? candidates(*place, ranks) : Names(&checkpoint::is_newer);
  for (const std::string& name : names) {
    const std::string path = place->folder + "/" + name;
    const Attempt attempt = joined(
        runtime::gather_texts(encoded(load(path, recipe, context.rank, states, beginning)), ranks));
    if (attempt.refused)
      return fail("checkpoint.folder: {}; valid: a folder of this run's own", attempt.fault);
    if (attempt.fault.empty()) {
      if (place->is_keeper)
        if (auto aside = set_newer_aside(place->folder, name); !aside) return fail(aside);
      if (const auto taken = names.find(name); taken != names.begin())
        beginning.warnings.push_back(fmt::format("{}: set aside as .damaged: {}", place->folder,
                                                 fmt::join(names.begin(), taken, ", ")));
      return beginning;
    }
    beginning.warnings.push_back(attempt.fault);
    beginning = {0, 0, 0, std::move(beginning.warnings), ""};
  }
  // The run's first save was still on its way when its ranks ended: they begin again.
  const bool was_saving = context.attempt > 0 && names.size() == 1;
  if (was_saving && place->is_keeper)
    if (auto aside = set_newer_aside(place->folder, std::nullopt); !aside) return fail(aside);
  if (!names.empty() && !was_saving)
    return fail(
        "checkpoint.folder: none of the checkpoints in {} is whole ({}); to begin again move them "
        "away",
        place->folder, fmt::join(beginning.warnings, "; "));
  if (!context.launch.begin_with.empty()) return begin_with_another(recipe, context, states);
  const Result<> loaded = step::load_weights(recipe, context.rank, states);
  const Attempt attempt = joined(runtime::gather_texts(
      encoded({.refused = false, .fault = loaded ? "" : loaded.error().message}), ranks));
  if (!attempt.fault.empty()) return fail("model.checkpoint: {}", attempt.fault);
  if (recipe.model.checkpoint.empty()) return beginning;
  beginning.note = start_of(recipe.model);
  const auto weights = checkpoint::Weights::open(recipe.model.checkpoint, recipe.model);
  if (weights) beginning.warnings = weights->notes();
  return beginning;
}

}  // namespace heddle::train
