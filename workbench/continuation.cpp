#include "workbench/continuation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/number_text.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/recipe/fault_lines.h"
#include "storage/run_name.h"
#include "workbench/backend.h"
#include "workbench/hosts_left.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

using LineageKind = storage::Lineage::Kind;

constexpr const char* kOwnFolder = "its run directory";

std::string names_of(const std::vector<SavedCheckpoint>& saved) {
  std::vector<std::string> names;
  for (const SavedCheckpoint& each : saved) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "30", "best" or "step-30-best"; of several of one step the plain one.
Result<SavedCheckpoint> find(const RunCheckpoints& checkpoints, const std::string& run,
                             const std::string& wanted) {
  const std::vector<SavedCheckpoint>& saved = checkpoints.saved();
  for (const std::string& name : {wanted, "step-" + wanted})
    if (const auto found = std::ranges::find(saved, name, &SavedCheckpoint::name);
        found != saved.end())
      return *found;
  int64_t step = -1;
  const char* end = wanted.data() + wanted.size();
  if (std::from_chars(wanted.data(), end, step).ptr != end) step = -1;
  for (const SavedCheckpoint& each : saved)
    if (each.step == step || each.name.ends_with("-" + wanted)) return each;
  return fail("{} saved no checkpoint {}; valid: {}", run, wanted, names_of(saved));
}

/// Whether a checkpoint can be gone on from. Where it is damaged the one before may do; another
/// fault is the recipe's, and ends the search.
struct Judged {
  bool damaged = false;
  std::string fault;  // empty: it can
};

Judged judge(const RunCheckpoints& checkpoints, const SavedCheckpoint& of,
             const recipe::Recipe& recipe) {
  const auto manifest = checkpoints.look_at(of);
  if (!manifest) return {true, manifest.error().message};
  const std::string path = checkpoints.path(0, of);
  if (manifest->format > checkpoint::kFormat)
    return {false, fmt::format("{}: format {}, which a newer Heddle has written; this one reads up "
                               "to {}",
                               path, manifest->format, checkpoint::kFormat)};
  const auto faulty = [&](const Error& error) {
    return Judged{false, path + ": " + error.message};
  };
  if (const auto fits = checkpoint::check_optimizer(manifest->recipe.optimizer, recipe.optimizer);
      !fits)
    return faulty(fits.error());
  recipe::Model model = recipe.model;
  // Only the ranks know the sizes that the recipe leaves to the tokenizer or another checkpoint.
  if (model.vocab_size == 0) model.vocab_size = manifest->recipe.model.vocab_size;
  if (model.dim == 0) return {};
  const auto fits = checkpoint::check_fit(manifest->recipe.model, model);
  return fits ? Judged{} : faulty(fits.error());
}

/// `sets_called` takes the file's place there for values from `sets`.
std::string joined(std::vector<recipe::Fault> faults, const std::string& sets_called) {
  for (recipe::Fault& fault : faults)
    if (fault.file == "--set") fault.file = sets_called;
  return recipe::lines_of(faults);
}

/// Refused where another run goes on with this one, or has gone on in the same folder; else what
/// runs that were resumed from it have more than it has, in words.
Result<std::vector<std::string>> resumed_before(storage::Reader& reader,
                                                const ContinueRequest& request,
                                                bool shares_folder) {
  std::vector<std::string> notes;
  if (request.kind == LineageKind::fork) return notes;
  const auto runs = reader.runs();
  if (!runs) return fail(runs);
  const storage::RunSummary& parent = request.parent.summary;
  for (const storage::RunSummary& run : *runs) {
    if (!run.lineage || run.lineage->parent != parent.id ||
        run.lineage->kind != LineageKind::resume)
      continue;
    if (!storage::has_ended(run.state))
      return fail("{} is being continued by {}; fork it instead", parent.name, run.name);
    if (shares_folder && run.steps > 0)
      return fail("{} was continued by {} in the same folder of checkpoints; resume that",
                  parent.name, run.name);
    if (run.steps > parent.steps)
      notes.push_back(
          fmt::format("{} has gone on from it to step {}: resume that one to keep its steps",
                      run.name, run.steps));
  }
  return notes;
}

/// On those hosts that are left the files of all hosts are gathered; a run that has none begins as
/// it did before.
Result<std::vector<std::vector<std::string>>> checkpoints_of(
    const RunCheckpoints& checkpoints, const std::vector<SavedCheckpoint>& candidates,
    const std::optional<HostsLeft>& fewer) {
  std::vector<std::vector<std::string>> paths;
  if (fewer) {
    const auto gathered = candidates.empty()
                              ? checkpoints.begun_with(fewer->left.front())
                              : checkpoints.gather(candidates.front()).map([](std::string path) {
                                  return std::vector{std::move(path)};
                                });
    if (!gathered) return fail(gathered);
    paths.assign(fewer->hosts.size(), *gathered);
    return paths;
  }
  for (size_t host = 0; host < checkpoints.place().shares.size(); ++host) {
    paths.emplace_back();
    for (const SavedCheckpoint& each : candidates)
      paths.back().push_back(checkpoints.path(host, each));
    if (!candidates.empty()) continue;
    auto begun = checkpoints.begun_with(host);
    if (!begun) return fail(begun);
    paths.back() = std::move(*begun);
  }
  return paths;
}

/// Why none of a run's checkpoints can be used, and what can be done.
std::string explain_damage(const RunCheckpoints& checkpoints, const ContinueRequest& request,
                           const std::vector<std::string>& faults) {
  const std::string& name = request.parent.summary.name;
  std::string text = fmt::format(
      "no checkpoint of {} is whole{}: {}{}", name,
      request.without.empty() ? "" : fmt::format(" without {}", fmt::join(request.without, ", ")),
      fmt::join(faults, "; "),
      request.checkpoint.empty() ? "" : "; it saved " + names_of(checkpoints.saved()));
  if (!request.without.empty() && !checkpoints.sees_all())
    text += fmt::format(
        "; the hosts share no root, and the rest of each checkpoint is on {}. Valid: heddle launch "
        "--resume {}, once it answers again",
        fmt::join(request.without, ", "), name);
  return text;
}

}  // namespace

Result<Continuation> plan_continuation(storage::Reader& reader, const ContinueRequest& request) {
  const storage::RunDetail& parent = request.parent;
  const std::string& name = parent.summary.name;
  const bool resumes = request.kind == LineageKind::resume;
  if (resumes && !storage::has_ended(parent.summary.state))
    return fail("{} is {}; there is nothing to resume before it has ended", name,
                storage::to_string(parent.summary.state));
  const recipe::Parsed before = checkpoint::load_recipe(parent.recipe, name);

  Continuation plan;
  LaunchRequest& launch = plan.launch;
  launch.recipe_text = request.recipe_text.empty() ? parent.recipe : request.recipe_text;
  launch.recipe_file = parent.summary.recipe_name + ".toml";
  launch.sets = request.sets;
  std::optional<HostsLeft> fewer;
  if (!request.without.empty()) {
    auto left = find_hosts_left(reader, request.without, parent, before.recipe);
    if (!left) return fail(left);
    fewer = std::move(*left);
    launch.sets.insert(launch.sets.begin(), fewer->sets.begin(), fewer->sets.end());
    plan.hosts = fewer->words;
    plan.notes = fewer->notes;
  }
  recipe::Parsed now = checkpoint::load_recipe(launch.recipe_text, launch.recipe_file, launch.sets);
  const std::string& old_folder = before.recipe.checkpoint.folder;
  const bool shares_folder = !old_folder.empty() && now.recipe.checkpoint.folder == old_folder;
  if (!resumes && shares_folder) {
    launch.sets.emplace_back("checkpoint.folder=\"\"");
    now = checkpoint::load_recipe(launch.recipe_text, launch.recipe_file, launch.sets);
    plan.notes.push_back(
        fmt::format("checkpoint.folder is emptied: {} is the folder of {}", old_folder, name));
  }
  if (!now.ok()) return fail("{}", joined(now.faults, request.sets_called));
  auto others = resumed_before(reader, request, shares_folder);
  if (!others) return fail(others);
  plan.notes.insert(plan.notes.end(), others->begin(), others->end());

  const auto checkpoints =
      fewer ? RunCheckpoints::open_on(parent, fewer->left) : RunCheckpoints::open(parent);
  if (!checkpoints) return fail(checkpoints);
  const bool begins_again = checkpoints->is_empty() && request.may_begin_again;
  if (checkpoints->saved().empty() && !begins_again)
    return fail("{} has no checkpoint{}: there is none in {}", name,
                checkpoints->is_empty() ? "" : " that all of its hosts have",
                checkpoints->folder());
  const int64_t hosts = static_cast<int64_t>(checkpoints->place().target.parts());
  if (hosts > 1 && !fewer && now.recipe.hardware.ranks != before.recipe.hardware.ranks)
    return fail(
        "hardware.ranks: {} trained on {} ranks, and each of its {} hosts keeps the files of its "
        "own; valid: {}",
        name, before.recipe.hardware.ranks, hosts, before.recipe.hardware.ranks);

  std::vector<SavedCheckpoint> candidates = checkpoints->saved();
  if (!request.checkpoint.empty()) {
    const auto wanted = find(*checkpoints, name, request.checkpoint);
    if (!wanted) return fail(wanted);
    candidates = {*wanted};
  }
  std::vector<std::string> damage;
  while (!candidates.empty()) {
    const Judged judged = judge(*checkpoints, candidates.front(), now.recipe);
    if (judged.fault.empty()) break;
    if (!judged.damaged) return fail("{}", judged.fault);
    damage.push_back(judged.fault);
    candidates.erase(candidates.begin());
  }
  if (candidates.empty() && !checkpoints->saved().empty())
    return fail("{}", explain_damage(*checkpoints, request, damage));
  plan.notes.insert(plan.notes.end(), damage.begin(), damage.end());
  if (candidates.empty()) {
    plan.path = "nothing: it has no checkpoint yet";
    if (parent.summary.lineage) plan.from.step = parent.summary.lineage->step;
  } else {
    plan.from = candidates.front();
    plan.path = checkpoints->path(fewer ? fewer->left.front() : 0, plan.from);
  }
  plan.last_step = now.recipe.training.steps;
  if (plan.last_step <= plan.from.step)
    return fail(
        "training.steps: {} has trained {} steps, and the recipe asks for {}; to train on say "
        "more, for instance {} training.steps={}",
        name, plan.from.step, plan.last_step, request.sets_called, 2 * plan.from.step);
  launch.name = request.name.empty() ? storage::continued_name(parent.summary, request.kind,
                                                               plan.from.step, plan.last_step)
                                     : request.name;
  const auto free = reader.free_name(launch.name);
  if (!free) return fail(free);
  plan.name = *free;
  plan.changes = recipe::changes(before.recipe, now.recipe);
  const recipe::Checkpoint& saves = now.recipe.checkpoint;
  plan.folder = !saves.enabled ? "nowhere: checkpoint.enabled is false"
                : !saves.folder.empty() && backend_of(checkpoints->place().target).has_our_files()
                    ? saves.folder
                    : kOwnFolder;

  launch.target = with_keys_and_spares_of_now(reader, checkpoints->place().target);
  launch.begin.emplace();
  launch.begin->lineage = {request.kind, parent.summary.id, name, plan.from.step};
  launch.begin->shares_folder = resumes && shares_folder;
  // Ranks that find damage within a file take the one before.
  if (!candidates.empty() && (!resumes || !request.checkpoint.empty())) candidates.resize(1);
  auto paths = checkpoints_of(*checkpoints, candidates, fewer);
  if (!paths) return fail(paths);
  launch.begin->checkpoints = std::move(*paths);
  if (fewer) launch.target = with_hosts(std::move(launch.target), std::move(fewer->hosts));
  return plan;
}

std::string to_text(const Continuation& plan) {
  const storage::Lineage& from = plan.launch.begin->lineage;
  std::string text = fmt::format("{}, to step {} on {}\n  from {}\n", storage::words_of(from),
                                 count_text(static_cast<double>(plan.last_step)),
                                 plan.launch.target.name, plan.path);
  if (!plan.hosts.empty()) text += fmt::format("  {}\n", plan.hosts);
  for (const recipe::Change& change : plan.changes)
    text += fmt::format("  with {} {} instead of {}\n", change.key, change.now, change.before);
  text += fmt::format("  checkpoints go to {}\n", plan.folder);
  for (const std::string& note : plan.notes) text += fmt::format("  {}\n", note);
  return text;
}

Result<std::string> forked_recipe(const std::string& recipe_text,
                                  const std::vector<std::string>& sets,
                                  const std::string& sets_called) {
  const recipe::Parsed parsed = recipe::parse(recipe_text, "recipe", sets);
  if (!parsed.ok()) return fail("{}", joined(parsed.faults, sets_called));
  bool emptied = false;
  std::string text = as_new_recipe(recipe_text, emptied);
  for (const auto& [key, value] : recipe::flatten(parsed.recipe)) {
    const bool is_set = std::ranges::any_of(
        sets, [&](const std::string& set) { return set.substr(0, set.find('=')) == key; });
    if (!is_set) continue;
    Result<std::string> edited = recipe::with_key(text, key, value);
    if (!edited) return fail("{}: {}", key, edited.error().message);
    text = std::move(*edited);
  }
  return text;
}

std::string as_new_recipe(const std::string& recipe_text, bool& emptied) {
  emptied = !recipe::parse(recipe_text, "recipe").recipe.checkpoint.folder.empty();
  if (!emptied) return recipe_text;
  return recipe::with_key(recipe_text, "checkpoint.folder", "").value_or(recipe_text);
}

}  // namespace heddle::workbench
