#include "workbench/import.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <vector>

#include "base/read_file.h"
#include "engine/launch/launch.h"
#include "engine/launch/run_files.h"
#include "engine/launch/run_logs.h"
#include "engine/recipe/parse.h"
#include "engine/telemetry/log_reader.h"
#include "storage/queries.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = 1 << 20;
constexpr int kDeepest = 6;           // folders down to a run directory
constexpr size_t kMaxSeen = 200'000;  // files and folders that are looked at on the way
constexpr size_t kMaxLogs = 200'000;  // of a run: ranks times attempts
constexpr uint64_t kLargestRecipe = 16 << 20;
constexpr uint64_t kLargestJson = 16 << 20;
constexpr uint64_t kLargestLog = uint64_t{1} << 40;

const std::string kFirstLog = launch::file_of({.rank = 0, .epoch = 0});

/// In the order to take them in: attempt by attempt, the supervisor's, which ends the run, last.
Result<std::vector<launch::LogName>> logs_of(const std::string& run_dir) {
  std::vector<launch::LogName> logs;
  std::error_code error;
  for (fs::directory_iterator entry(run_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto log = launch::log_name(entry->path().filename())) logs.push_back(*log);
    if (logs.size() > kMaxLogs) return fail("{}: it has more than {} logs", run_dir, kMaxLogs);
  }
  if (error) return fail("{}: {}", run_dir, error.message());
  std::ranges::sort(logs, {}, [](const launch::LogName& log) {
    return std::tuple(log.epoch, log.rank == telemetry::kSupervisorRank, log.rank);
  });
  if (std::ranges::find(logs, 0, &launch::LogName::rank) == logs.end())
    return fail("{}: there is no {}; valid: the directory of a run", run_dir, kFirstLog);
  return logs;
}

Result<> take_log(storage::Writer& writer, storage::RunId run, const std::string& run_dir,
                  const launch::LogName& log) {
  const std::string path = run_dir + "/" + launch::file_of(log);
  auto file = PlainFile::open(path, PlainFile::Links::refuse);
  if (!file) return fail(file);
  if (!*file) return fail("{}: it has gone", path);
  if ((*file)->size() > kLargestLog) return fail("{}: it is larger than any log", path);
  for (uint64_t offset = 0;;) {
    Result<std::string> piece = (*file)->read(kPiece);
    if (!piece) return fail(piece);
    const size_t count = piece->size();
    if (count == 0) break;
    const auto taken = writer.ingest(run, log.rank, log.epoch, offset, std::move(*piece)).get();
    if (!taken) return fail("{}: {}", path, taken.error().message);
    offset += count;
  }
  const auto ended = writer.end_log(run, log.rank, log.epoch).get();
  return ended ? Result<>{} : fail("{}: {}", path, ended.error().message);
}

Result<> take_logs(storage::Writer& writer, storage::RunId run, const std::string& run_dir,
                   const std::vector<launch::LogName>& logs, const launch::Status& status) {
  for (const launch::LogName& log : logs) {
    if (Result<> taken = take_log(writer, run, run_dir, log); !taken) return taken;
  }
  if (!status.end) {
    return writer.set_state(run, storage::RunState::lost, "imported without an end.json").get();
  }
  const auto state = storage::run_state(status.end->state);
  if (!state) return fail("end.json: state '{}' is unknown", status.end->state);
  return writer.set_state(run, *state, status.end->cause, status.end->finished).get();
}

/// The name that the run was launched with; `train` gives none, then the folder's name.
std::string name_of(const fs::path& folder) {
  const Result<launch::Launch> launched = launch::read_launch(folder);
  if (launched && launched->run != "train") return launched->run;
  return (folder.has_filename() ? folder : folder.parent_path()).filename();
}

/// Absolute, without a slash at its end.
std::string whole(const std::string& path) {
  const fs::path folder = fs::absolute(path).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

/// The first record of rank 0's log.
std::optional<telemetry::Frame> beginning_of(const std::string& run_dir) {
  auto file = PlainFile::open(run_dir + "/" + kFirstLog, PlainFile::Links::refuse);
  if (!file || !*file) return std::nullopt;
  telemetry::LogReader log;
  log.feed((*file)->read(kPiece).value_or(""));
  const auto event = log.next();
  if (!event || !std::holds_alternative<telemetry::Frame>(*event)) return std::nullopt;
  return std::get<telemetry::Frame>(*event);
}

/// An import of that directory of this machine that was interrupted is removed.
Result<> clear_up(storage::Reader& reader, storage::Writer& writer, const std::string& run_dir) {
  const auto runs = reader.runs_in(run_dir);
  if (!runs) return fail(runs);
  for (const storage::RunId id : *runs) {
    const auto run = reader.run(id);
    if (!run) return fail(run);
    const Result<Place> place = place_from_json(run->hosts);
    if (!place || !place->target.hosts[0].is_this_machine()) continue;
    if (storage::has_ended(run->summary.state) || !is_import(run->summary, *place) ||
        launcher_lives(*place))
      continue;
    if (Result<> removed = writer.remove(id).get(); !removed) return removed;
  }
  return {};
}

/// The run of a directory that the store has, imported or launched here, from wherever; one in the
/// trash where there is no other.
Result<std::optional<Imported>> run_here(storage::Reader& reader, storage::Writer& writer,
                                         const std::string& run_dir) {
  if (Result<> cleared = clear_up(reader, writer, run_dir); !cleared) return fail(cleared);
  const std::optional<telemetry::Frame> beginning = beginning_of(run_dir);
  if (!beginning) return std::nullopt;
  const auto runs = reader.runs_that_began(beginning->checksum);
  if (!runs) return fail(runs);
  std::optional<Imported> trashed;
  for (const storage::RunId id : *runs) {
    const auto run = reader.run(id);
    if (!run) return fail(run);
    Imported here{run_dir, storage::CreatedRun{id, run->summary.name}, true,
                  run->summary.trashed.has_value()};
    if (!here.in_trash) return here;
    if (!trashed) trashed = std::move(here);
  }
  return trashed;
}

struct Found {
  std::vector<std::string> run_dirs;
  size_t seen = 0;
};

void find_run_dirs(const fs::path& folder, int deeper, Found& found) {
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(folder / kFirstLog, error)))
    return found.run_dirs.push_back(folder);
  if (deeper == 0) return;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++found.seen > kMaxSeen) return;
    std::error_code unknown;
    if (fs::is_directory(entry->symlink_status(unknown)))
      find_run_dirs(entry->path(), deeper - 1, found);
  }
}

/// Checks the other files that Heddle reads of a run directory.
Result<> check_files(const std::string& run_dir) {
  for (const char* name : {"launch.json", "state.json", "end.json"}) {
    const auto file = PlainFile::open(run_dir + "/" + name, PlainFile::Links::refuse);
    if (!file) return fail(file);
    if (*file && (*file)->size() > kLargestJson)
      return fail("{}/{}: it has {} bytes; at most {} are read", run_dir, name, (*file)->size(),
                  kLargestJson);
  }
  return {};
}

}  // namespace

bool is_import(const storage::RunSummary& run, const Place& place) {
  return run.target == kImported && place.shares.empty();
}

Result<std::vector<std::string>> run_dirs_in(const std::string& folder) {
  Found found;
  find_run_dirs(whole(folder), kDeepest, found);
  if (found.seen > kMaxSeen)
    return fail(
        "{}: there are more than {} files in it and below; valid: a folder closer to the "
        "runs",
        folder, kMaxSeen);
  std::ranges::sort(found.run_dirs);
  return std::move(found.run_dirs);
}

std::vector<Imported> import_runs(const std::string& store_path, storage::Writer& writer,
                                  const std::vector<std::string>& paths,
                                  const std::function<bool(size_t done, size_t total)>& progress) {
  std::vector<Imported> done;
  std::vector<std::string> run_dirs;
  for (const std::string& path : paths) {
    const auto found = run_dirs_in(path);
    if (!found) {
      done.push_back({path, fail(found)});
      continue;
    }
    for (const std::string& run_dir : *found) {
      if (std::find(run_dirs.begin(), run_dirs.end(), run_dir) == run_dirs.end())
        run_dirs.push_back(run_dir);
    }
    if (found->empty())
      done.push_back({path, fail("{}: there is no {} in it or below; valid: the directory of a "
                                 "run, or a folder of such",
                                 path, kFirstLog)});
  }
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  for (size_t i = 0; i < run_dirs.size(); ++i) {
    const auto here = reader ? run_here(*reader, writer, run_dirs[i]) : fail(reader);
    if (!here) {
      done.push_back({run_dirs[i], fail(here)});
    } else if (*here) {
      done.push_back(**here);
    } else {
      done.push_back({run_dirs[i], import_run(writer, run_dirs[i])});
    }
    if (progress && !progress(i + 1, run_dirs.size())) break;
  }
  return done;
}

Result<storage::CreatedRun> import_run(storage::Writer& writer, const std::string& run_dir,
                                       const std::string& name) {
  const std::string folder = whole(run_dir);
  const Result<std::vector<launch::LogName>> logs = logs_of(folder);
  if (!logs) return fail(logs);
  if (const Result<> plain = check_files(folder); !plain) return fail(plain);
  const Result<launch::Status> status = launch::read_status(folder);
  if (!status) return fail(status);
  if (status->condition == launch::Condition::running) {
    return fail("{}: the run is still going on", run_dir);
  }
  auto recipe =
      read_file_if_there(folder + "/recipe.toml", kLargestRecipe, PlainFile::Links::refuse);
  if (!recipe) return fail(recipe);
  if (!*recipe) return fail("{}/recipe.toml: there is none", run_dir);

  storage::NewRun run;
  run.recipe = std::move(**recipe);
  const recipe::Parsed parsed = recipe::parse(run.recipe, folder + "/recipe.toml");
  // A newer Heddle's recipe may have keys that this one does not know: what can be read is
  // compared.
  run.recipe_values = recipe::flatten(recipe::resolve(parsed).recipe);
  run.name = name.empty() ? name_of(folder) : name;
  run.recipe_name = run.name;
  run.target = kImported;
  run.imported = true;
  run.run_dir = folder;
  run.hosts = to_json(place_on(remote::this_machine()));
  if (const Result<launch::Launch> launched = launch::read_launch(folder)) {
    const launch::Ancestry& from = launched->ancestry;
    if (const auto kind = storage::lineage_kind(from.kind))
      run.lineage = storage::Lineage{*kind, 0, from.parent, from.step};
  }
  if (status->end) run.created = status->end->finished;
  Result<storage::CreatedRun> created = writer.create_run(std::move(run)).get();
  if (!created) return created;
  if (const Result<> taken = take_logs(writer, created->id, folder, *logs, *status); !taken) {
    [[maybe_unused]] const Result<> removed = writer.remove(created->id).get();
    return fail(taken);
  }
  return created;
}

}  // namespace heddle::workbench
