#include "workbench/queue.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <set>

#include "workbench/checked_recipe.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

std::string base_name(const LaunchRequest& base) {
  return base.name.empty() ? std::filesystem::path(base.recipe_file).stem().string() : base.name;
}

/// "debug", "debug-2": the first that no group and no run is called.
Result<std::string> free_group(storage::Reader& reader, const std::string& wish) {
  std::set<std::string> taken;
  for (const bool trashed : {false, true}) {
    const auto runs = reader.runs(trashed);
    if (!runs) return fail(runs);
    for (const storage::RunSummary& run : *runs) taken.insert(run.group);
  }
  std::string name = wish;
  for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}-{}", wish, i);
  return name;
}

/// Which of several runs an error is about.
LaunchError named(LaunchError error, const LaunchRequest& request, size_t runs) {
  if (runs > 1) error.message = base_name(request) + ":\n" + error.message;
  return error;
}

/// Runs of one folder of checkpoints would take each other's for their own.
std::optional<LaunchError> shared_folder(const std::vector<storage::NewRun>& runs) {
  std::set<std::string> seen;
  for (const storage::NewRun& run : runs) {
    if (!run.claims_folder) continue;
    for (const auto& [key, folder] : run.recipe_values) {
      if (key != "checkpoint.folder" || seen.insert(folder).second) continue;
      return LaunchError{.message = fmt::format(
                             "checkpoint.folder: {} runs would save in {}; valid: \"\", for one "
                             "in each run's directory",
                             runs.size(), folder),
                         .refused = true};
    }
  }
  return {};
}

/// Whether no run goes on or waits on the target: what is found there now holds for the first.
Result<bool> is_idle(const std::string& store_path, const std::string& target) {
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  const auto runs = reader->unfinished_runs();
  if (!runs) return fail(runs);
  return std::ranges::none_of(*runs,
                              [&](const storage::RunSummary& run) { return run.target == target; });
}

LaunchError launch_error(const Error& error) { return LaunchError{.message = error.message}; }

}  // namespace

Result<std::vector<LaunchRequest>> requests_of(storage::Reader& reader, const LaunchRequest& base,
                                               const std::vector<SweepRun>& runs) {
  std::vector<LaunchRequest> requests(runs.size(), base);
  if (runs.size() == 1) {
    requests[0].sets = runs[0].sets;
    return requests;
  }
  const Result<std::string> group = free_group(reader, base_name(base));
  if (!group) return fail(group);
  for (size_t i = 0; i < runs.size(); ++i) {
    requests[i].sets = runs[i].sets;
    requests[i].group = *group;
    requests[i].name = *group + " " + runs[i].label;
  }
  return requests;
}

tl::expected<std::vector<storage::CreatedRun>, LaunchError> enqueue(
    storage::Writer& writer, const Enqueuing& wanted, const LaunchProgress& progress) {
  const std::vector<LaunchRequest>& requests = wanted.requests;
  const Result<bool> idle = is_idle(writer.path(), requests.at(0).target.name);
  if (!idle) return tl::unexpected(launch_error(idle.error()));
  std::optional<TargetNow> now;
  std::vector<storage::NewRun> runs;
  for (size_t i = 0; i < requests.size(); ++i) {
    const LaunchRequest& request = requests[i];
    if (progress && !progress(fmt::format("checking run {} of {}", i + 1, requests.size()), 0, 0))
      return tl::unexpected(LaunchError{.message = "cancelled", .cancelled = true});
    const auto checked = check_recipe(request);
    // A fault names its key, and --set or the recipe as its place.
    if (!checked) return tl::unexpected(checked.error());
    if (auto fault = unasked_continuation(writer.path(), request, checked->parsed))
      return tl::unexpected(std::move(*fault));
    if (*idle) {
      if (!now) now = look_at(request.target);
      const std::vector<Finding> findings = preflight(checked->parsed, *now);
      if (!may_start(findings))
        return tl::unexpected(named({.message = lines_of(findings, probe::Status::fail),
                                     .refused = true,
                                     .connection = now->refused},
                                    request, requests.size()));
    }
    storage::NewRun run = new_run(request, *checked);
    run.hosts = to_json(place_on(request.target));
    run.waiting = storage::Waiting{.at_once = wanted.at_once, .mode = request.mode};
    runs.push_back(std::move(run));
  }
  if (auto shared = shared_folder(runs)) return tl::unexpected(std::move(*shared));
  auto created = writer.create_runs(std::move(runs), wanted.halving).get();
  if (!created) return tl::unexpected(launch_error(created.error()));
  return std::move(*created);
}

}  // namespace heddle::workbench
