#include "workbench/reproduction.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/recipe/fault_lines.h"
#include "remote/bundle.h"
#include "remote/hash_cache.h"
#include "remote/sha256.h"
#include "workbench/backend.h"
#include "workbench/continuation.h"
#include "workbench/import.h"
#include "workbench/inputs.h"
#include "workbench/paths.h"
#include "workbench/place.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

constexpr size_t kHashDigits = 16;

/// "loom: 96 cores, 1.97 TiB, 8 × NVIDIA H100 80GB HBM3, driver 550.54".
std::string machine_text(const TargetNow& target) {
  std::string text;
  for (const HostNow& host : target.hosts) {
    const probe::Report& report = host.report;
    text += fmt::format("{}{}: {} cores, {}", text.empty() ? "" : "; ", report.host, report.cores,
                        bytes_text(static_cast<double>(report.memory_bytes)));
    if (!report.gpus.empty())
      text += fmt::format(", {} × {}, driver {}", report.gpus.size(), report.gpus[0].name,
                          report.gpus[0].driver);
  }
  return text;
}

std::string text_of(const storage::Values& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text ? *text : std::string();
}

/// Compares one value of then and now.
void compare_then(Reproduction& plan, const std::string& what, const std::string& then,
                  const std::string& now) {
  if (then.empty())
    plan.differences.push_back(
        fmt::format("{}: the run recorded none; whether it is the same is not known", what));
  else if (now.empty())
    plan.differences.push_back(fmt::format("{}: it was {}, and is not known now", what, then));
  else if (then != now)
    plan.differences.push_back(fmt::format("{}: it was {}, and is {} now", what, then, now));
  else
    plan.same.push_back(fmt::format("{} {}", what, then));
}

/// The checkpoint from which the run continued. The new run is a fork of it even if the old one was
/// a resume: it saves to its own folder.
Result<Begin> begin_again(storage::Reader& reader, const storage::RunDetail& run) {
  const storage::Lineage& lineage = *run.summary.lineage;
  const auto fail_without = [&](const std::string& why) {
    return fail("{} is a {}, and that checkpoint is needed: {}", run.summary.name,
                storage::words_of(lineage), why);
  };
  if (lineage.parent == 0) return fail_without(lineage.parent_name + " is not in this store");
  const auto parent = reader.run(lineage.parent);
  if (!parent) return fail_without(parent.error().message);
  auto plan = plan_continuation(reader, {.kind = storage::Lineage::Kind::fork,
                                         .parent = *parent,
                                         .checkpoint = std::to_string(lineage.step),
                                         .recipe_text = run.recipe});
  if (!plan) return fail_without(plan.error().message);
  return std::move(*plan->launch.begin);
}

}  // namespace

storage::Values environment_of(const recipe::Recipe& recipe, const TargetNow& target,
                               const remote::Progress& hashing) {
  storage::Values values;
  if (const auto hash = hash_of_inputs(recipe, hashing)) values[kInputs] = *hash;
  remote::HashCache cache;
  std::string engine;
  if (const auto hash = cache.sha256_of(remote::program_of(engine_path()))) {
    engine = hash->substr(0, kHashDigits);
    values[kEngineBuild] = engine;
    cache.save();
  }
  if (const std::string machine = machine_text(target); !machine.empty()) {
    values[kMachine] = machine;
    values[kFingerprint] = remote::sha256(engine + "\n" + machine).substr(0, kHashDigits);
  }
  return values;
}

Result<Reproduction> plan_reproduction(storage::Reader& reader, const storage::RunDetail& run) {
  const storage::RunSummary& summary = run.summary;
  if (summary.target == kImported)
    return fail(
        "{} was made elsewhere and has no target here; heddle export {} --to DIR gives its recipe, "
        "to launch as it is",
        summary.name, summary.name);
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", summary.name, place.error().message);

  Reproduction plan;
  LaunchRequest& request = plan.request;
  request.recipe_text = run.recipe;
  request.recipe_file = summary.recipe_name + ".toml";
  request.target = with_keys_and_spares_of_now(reader, place->target);
  request.name = summary.name + " again";
  if (summary.lineage) {
    auto begin = begin_again(reader, run);
    if (!begin) return fail(begin);
    request.begin = std::move(*begin);
    plan.same.push_back(fmt::format("start after step {} of {}",
                                    count_text(static_cast<double>(summary.lineage->step)),
                                    summary.lineage->parent_name));
  }
  request.group = summary.group;
  if (const std::string mode = text_of(run.environment, "mode"); !mode.empty()) request.mode = mode;
  const recipe::Parsed recipe = checkpoint::load_recipe(request.recipe_text, request.recipe_file);
  if (!recipe.ok()) return fail("{}", recipe::lines_of(recipe.faults));
  if (!recipe.recipe.checkpoint.folder.empty()) {
    request.sets.emplace_back("checkpoint.folder=\"\"");
    plan.differences.push_back(
        fmt::format("checkpoint.folder: {} is that run's own; this one saves in its run directory",
                    recipe.recipe.checkpoint.folder));
  }
  const TargetNow target = look_at(request.target);
  if (!target.error.empty()) return fail("{}", target.error);
  const auto keep_on = [](uint64_t, uint64_t) { return true; };
  const storage::Values now = environment_of(recipe.recipe, target, keep_on);
  compare_then(plan, "data", text_of(run.environment, kInputs), text_of(now, kInputs));
  compare_then(plan, "engine build", text_of(run.environment, kEngineBuild),
               text_of(now, kEngineBuild));
  compare_then(plan, "machine", text_of(run.environment, kMachine), text_of(now, kMachine));
  return plan;
}

}  // namespace heddle::workbench
