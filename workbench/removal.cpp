#include "workbench/removal.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "engine/checkpoint/step_folders.h"
#include "engine/recipe/parse.h"
#include "engine/runs/checkpoint_folder.h"
#include "remote/connect.h"
#include "workbench/checkpoints.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

Result<RunFolder> folder_on(remote::Node& node, const std::string& run_dir) {
  RunFolder folder{node.name(), run_dir};
  const auto there = node.stat(run_dir);
  if (!there) return fail(there);
  if (!*there) return folder;
  const auto size = node.run_checked({.argv = {"du", "-sk", "--", run_dir}});
  if (!size) return fail(size);
  std::from_chars(size->data(), size->data() + size->size(), folder.bytes);
  folder.bytes *= 1024;
  const auto entries = node.list(runs::checkpoint_folder({}, run_dir));
  if (!entries) return fail(entries);
  folder.checkpoints = std::ranges::count_if(*entries, [](const remote::Entry& entry) {
    return entry.folder && checkpoint::step_of(entry.name);
  });
  return folder;
}

bool is_below(const std::string& path, const std::vector<RunFolder>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const RunFolder& folder) {
    return path == folder.path || path.starts_with(folder.path + '/');
  });
}

}  // namespace

Result<Removal> removal_of(storage::Reader& reader, const storage::RunDetail& run) {
  Removal removal;
  const auto rows = reader.size_of(run.summary.id);
  if (!rows) return fail(rows);
  removal.rows = *rows;
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", run.summary.name, place.error().message);
  for (size_t i = 0; i < place->shares.size(); ++i) {
    const auto node = remote::connect(place->target, place->target.host_of(i));
    if (!node) return fail("{}", node.error().message);
    auto folder = folder_on(**node, place->shares[i].run_dir());
    if (!folder) return fail(folder);
    removal.folders.push_back(std::move(*folder));
  }
  std::error_code error;
  if (place->shares.empty() && std::filesystem::exists(run.run_dir, error)) {
    removal.kept = run.run_dir;
    removal.why_kept = "the directory that it was imported from";
    return removal;
  }
  const recipe::Checkpoint saves = recipe::parse(run.recipe, "recipe").recipe.checkpoint;
  const std::string run_dir = place->shares.empty() ? run.run_dir : place->shares[0].run_dir();
  const std::string checkpoints = checkpoint_folder(saves, place->target, run_dir);
  if (!place->shares.empty() && !checkpoints.empty() && !is_below(checkpoints, removal.folders)) {
    removal.kept = checkpoints;
    removal.why_kept = "its recipe's folder for checkpoints";
  }
  return removal;
}

}  // namespace heddle::workbench
