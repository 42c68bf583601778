#include "workbench/checkpoints.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/file_lock.h"
#include "base/read_json.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/runs/checkpoint_folder.h"
#include "engine/runs/run_files.h"
#include "remote/connect.h"
#include "workbench/backend.h"
#include "workbench/import.h"

namespace heddle::workbench {
namespace {

/// The newest run of the store whose recipe names the folder.
std::optional<storage::RunSummary> run_of(storage::Reader& reader, const recipe::Recipe& recipe) {
  std::string named;
  for (const auto& [key, value] : recipe::flatten(recipe))
    if (key == "checkpoint.folder") named = value;
  const auto folders = reader.column("recipe.checkpoint.folder");
  if (!folders) return {};
  for (auto each = folders->rbegin(); each != folders->rend(); ++each) {
    const auto* folder = std::get_if<std::string>(&each->second);
    if (!folder || *folder != named) continue;
    const auto run = reader.run(each->first);
    if (run && run->summary.target == remote::kThisMachine) return run->summary;
  }
  return {};
}

// $1: a folder to make; the others: folders of files, of which the first one's manifest is taken.
constexpr const char* kGather = R"sh(
set -e
gathered=$1
shift
rm -rf -- "$gathered.partial"
mkdir -p -- "$gathered.partial"
for folder do
  for file in "$folder"/*; do
    [ -e "$file" ] || continue
    name=${file##*/}
    [ -e "$gathered.partial/$name" ] || ln -- "$file" "$gathered.partial/$name"
  done
done
rm -rf -- "$gathered"
mv -- "$gathered.partial" "$gathered"
)sh";

}  // namespace

std::string checkpoint_folder(const recipe::Checkpoint& checkpoint, const remote::Target& target,
                              const std::string& run_dir) {
  recipe::Checkpoint there = checkpoint;
  if (!backend_of(target).has_our_files()) there.folder.clear();
  return runs::checkpoint_folder(there, run_dir);
}

Result<RunCheckpoints> RunCheckpoints::open(const storage::RunDetail& run) {
  const Result<Place> place = place_from_json(run.hosts);
  std::vector<size_t> all(place ? place->shares.size() : 0);
  std::iota(all.begin(), all.end(), size_t{0});
  return open_on(run, all);
}

Result<RunCheckpoints> RunCheckpoints::open_without(const storage::RunDetail& run,
                                                    const std::vector<std::string>& without) {
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", run.summary.name, place.error().message);
  std::vector<size_t> left;
  for (size_t host = 0; host < place->shares.size(); ++host)
    if (std::ranges::find(without, place->target.part_name(host)) == without.end())
      left.push_back(host);
  return open_on(run, left);
}

Result<RunCheckpoints> RunCheckpoints::open_on(const storage::RunDetail& run,
                                               const std::vector<size_t>& left) {
  const std::string& name = run.summary.name;
  const recipe::Checkpoint checkpoint = recipe::parse(run.recipe, name).recipe.checkpoint;
  if (!checkpoint.enabled)
    return fail("{} keeps no checkpoints: its recipe has checkpoint.enabled = false", name);
  Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", name, place.error().message);
  if (place->shares.empty())
    return fail(
        "{} was {}: the folder of its checkpoints is unknown; valid: a new run with "
        "model.checkpoint "
        "= \"FOLDER/step-N\", which begins with the weights alone",
        name, run.summary.target == kImported ? "imported" : "never started");
  RunCheckpoints found;
  found.place_ = std::move(*place);
  const size_t hosts = found.place_.shares.size();
  found.left_ = left;
  found.folders_.resize(hosts);
  found.nodes_.resize(hosts);
  for (const size_t host : left)
    if (auto added = found.add_host(host, checkpoint, name); !added) return fail(added);
  for (size_t host = 0; host < hosts; ++host) {
    if (found.nodes_[host]) continue;
    const std::string run_dir = found.place_.shares[host].run_dir();
    const auto there = found.nodes_[left.front()]->stat(run_dir);
    if (!there) return fail(there);
    if (*there) found.folders_[host] = checkpoint_folder(checkpoint, found.place_.target, run_dir);
  }
  return found;
}

Result<> RunCheckpoints::add_host(size_t host, const recipe::Checkpoint& checkpoint,
                                  const std::string& run) {
  const std::string run_dir = place_.shares[host].run_dir();
  auto node = remote::connect(place_.target, place_.target.host_of(host));
  if (!node) return fail("the checkpoints of {} cannot be reached: {}", run, node.error().message);
  const auto there = (*node)->stat(run_dir);
  if (!there) return fail(there);
  if (!*there)
    return fail("{}: the run directory of {} is gone: there is no {}", (*node)->name(), run,
                run_dir);
  folders_[host] = checkpoint_folder(checkpoint, place_.target, run_dir);
  const auto entries = (*node)->list(folders_[host]);
  if (!entries) return fail(entries);
  std::vector<SavedCheckpoint> saved;
  for (const remote::Entry& entry : *entries)
    if (const auto step = checkpoint::step_of(entry.name); step && entry.folder)
      saved.push_back({entry.name, *step, entry.modified});
  std::ranges::sort(saved, [](const SavedCheckpoint& a, const SavedCheckpoint& b) {
    return checkpoint::is_newer(a.name, b.name);
  });
  is_empty_ &= saved.empty();
  if (host != left_.front())
    std::erase_if(saved, [this](const SavedCheckpoint& one) {
      return std::ranges::find(saved_, one.name, &SavedCheckpoint::name) == saved_.end();
    });
  saved_ = std::move(saved);
  nodes_[host] = std::move(*node);
  return {};
}

Result<checkpoint::Manifest> RunCheckpoints::look_at(const SavedCheckpoint& of) const {
  const size_t first = left_.front();
  const std::string text_path = path(first, of) + '/' + checkpoint::kManifest;
  std::map<std::string, uint64_t> there;
  for (size_t host = 0; host < nodes_.size(); ++host) {
    if (folders_[host].empty()) continue;
    const auto entries = (nodes_[host] ? nodes_[host] : nodes_[first])->list(path(host, of));
    if (!entries) return fail(entries);
    for (const remote::Entry& entry : *entries) there[entry.name] = entry.size;
  }
  if (!there.contains(checkpoint::kManifest)) return fail("{}: missing", text_path);
  const auto text = nodes_[first]->read(text_path, 0, there[checkpoint::kManifest]);
  if (!text) return fail(text);
  auto manifest = checkpoint::parse_manifest(*text);
  if (!manifest) return fail("{}: {}", text_path, manifest.error().message);
  for (const auto& [name, file] : manifest->contents.files) {
    const auto found = there.find(name);
    if (found == there.end())
      return fail("{}/{}: missing (it was written on host {})", path(first, of), name, file.host);
    if (found->second != static_cast<uint64_t>(file.bytes))
      return fail("{}/{}: damaged: {} bytes, but it was written with {}", path(first, of), name,
                  found->second, file.bytes);
  }
  return manifest;
}

bool RunCheckpoints::sees_all() const {
  return std::ranges::none_of(folders_, [](const std::string& folder) { return folder.empty(); });
}

Result<std::vector<std::string>> RunCheckpoints::begun_with(size_t host) const {
  const auto text = nodes_[host]->read(place_.shares[host].run_dir() + "/launch.json");
  if (!text) return fail(text);
  const auto launch = read_json(*text, runs::kRunFile);
  if (!launch || !launch->is_object())
    return fail("{}: launch.json of {} cannot be read", nodes_[host]->name(),
                place_.shares[host].run_dir());
  std::vector<std::string> paths;
  for (const auto& path : launch->value("begin_with", nlohmann::json::array()))
    if (path.is_string()) paths.push_back(path);
  return paths;
}

Result<std::string> RunCheckpoints::gather(const SavedCheckpoint& of) const {
  const size_t first = left_.front();
  std::string gathered = place_.shares[first].run_dir() + "/gathered/" + of.name;
  remote::Command command{.argv = {"/bin/sh", "-c", kGather, "sh", gathered, path(first, of)}};
  for (size_t host = 0; host < folders_.size(); ++host)
    if (host != first && !folders_[host].empty()) command.argv.push_back(path(host, of));
  if (const auto linked = nodes_[first]->run_checked(std::move(command)); !linked)
    return fail(linked);
  for (const size_t host : left_) {
    const auto seen = nodes_[host]->stat(gathered);
    if (!seen) return fail(seen);
    if (!*seen)
      return fail("{} does not see {} of {}: they share no root, and each has a part of {}",
                  place_.target.part_name(host), gathered, place_.target.part_name(first), of.name);
  }
  return gathered;
}

std::optional<recipe::Fault> folder_in_use(storage::Reader& reader,
                                           const recipe::Parsed& resolved) {
  const recipe::Checkpoint& checkpoint = resolved.recipe.checkpoint;
  if (!checkpoint.enabled || checkpoint.folder.empty()) return {};
  const std::vector<std::string> names = checkpoint::checkpoints_in(checkpoint.folder);
  const bool locked = FileLock::is_held(checkpoint::lock_file(checkpoint.folder)).value_or(false);
  const auto run = run_of(reader, resolved.recipe);
  const bool running = run && !storage::has_ended(run->state);
  if (names.empty() && !locked && !running) return {};
  recipe::Fault fault;
  fault.file = resolved.file;
  fault.key = "checkpoint.folder";
  if (const auto at = resolved.places.find(fault.key); at != resolved.places.end()) {
    fault.file = at->second.file;
    fault.line = at->second.line;
    fault.column = at->second.column;
  }
  const std::string whose = run ? run->name : "another run";
  if (running || locked)
    fault.what = fmt::format("{} is saving its checkpoints in {}", whose, checkpoint.folder);
  else
    fault.what =
        fmt::format("{} holds checkpoints{}, the newest {}, and a new run starts from scratch",
                    checkpoint.folder, run ? fmt::format(" of {}", whose) : "", names.front());
  fault.valid = "\"\" (the run directory's own), or another folder";
  if (run && !running && !locked)
    fault.valid += fmt::format(
        "; to go on with {0}: Resume or Fork (heddle launch --resume {0}, or --fork {0})",
        run->name);
  return fault;
}

}  // namespace heddle::workbench
