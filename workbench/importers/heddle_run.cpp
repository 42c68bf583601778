#include "workbench/importers/heddle_run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>

#include "base/read_file.h"
#include "engine/launch/run_logs.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr char kFirstLog[] = "rank-0.0.hlog";
constexpr size_t kPiece = 1 << 20;
constexpr size_t kMaxLogs = 200'000;  // of a run: ranks times attempts
constexpr uint64_t kLargestRecipe = 16 << 20;
constexpr uint64_t kLargestJson = 16 << 20;
constexpr uint64_t kLargestLog = uint64_t{1} << 40;

/// In the order to take them in: attempt by attempt, the supervisor's, which ends the run, last.
Result<std::vector<launch::LogName>> logs_in(const std::string& run_dir) {
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

Result<PlainFile> open_log(const std::string& path) {
  auto file = PlainFile::open(path, PlainFile::Links::refuse);
  if (!file) return fail(file);
  if (!*file) return fail("{}: it has gone", path);
  if ((*file)->size() > kLargestLog) return fail("{}: it is larger than any log", path);
  return std::move(**file);
}

ForeignLog foreign_log(const std::string& run_dir, const launch::LogName& log) {
  const std::string path = run_dir + "/" + launch::file_of(log);
  return {path, log.rank, log.epoch,
          [path, file = std::shared_ptr<PlainFile>()]() mutable -> Result<std::string> {
            if (!file) {
              Result<PlainFile> opened = open_log(path);
              if (!opened) return fail(opened);
              file = std::make_shared<PlainFile>(std::move(*opened));
            }
            return file->read(kPiece);
          }};
}

/// The name that the run was launched with; `train` gives none, then the folder's name.
std::string name_of(const Result<runs::Launch>& launched, const std::string& run_dir) {
  if (launched && launched->run != "train") return launched->run;
  return fs::path(run_dir).filename();
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

Result<> read_ending(const runs::Status& status, ForeignRun& run) {
  if (!status.end) {
    run.cause = "imported without an end.json";
    return {};
  }
  const auto state = storage::run_state(status.end->state);
  if (!state) return fail("end.json: state '{}' is unknown", status.end->state);
  run.state = *state;
  run.cause = status.end->cause;
  run.finished = status.end->finished;
  return {};
}

bool recognise_run_dir(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path + "/" + kFirstLog, error));
}

/// The first record of rank 0.
std::optional<telemetry::Frame> first_frame(const std::string& path) {
  auto file = PlainFile::open(path + "/" + kFirstLog, PlainFile::Links::refuse);
  if (!file || !*file) return std::nullopt;
  telemetry::LogReader log;
  log.feed((*file)->read(kPiece).value_or(""));
  const auto event = log.next();
  if (!event || !std::holds_alternative<telemetry::Frame>(*event)) return std::nullopt;
  return std::get<telemetry::Frame>(*event);
}

std::optional<uint64_t> identify_run_dir(const std::string& path) {
  const auto frame = first_frame(path);
  return frame ? std::optional(frame->checksum) : std::nullopt;
}

/// When rank 0 started; 0: its log does not say.
double start_of(const std::string& path) {
  const auto frame = first_frame(path);
  if (!frame) return 0;
  const Result<telemetry::Record> record = frame->record();
  const auto* start = record ? std::get_if<telemetry::Start>(&*record) : nullptr;
  return start ? start->time : 0;
}

Result<ForeignRun> read_run_dir(const std::string& path) {
  const Result<std::vector<launch::LogName>> logs = logs_in(path);
  if (!logs) return fail(logs);
  if (const Result<> plain = check_files(path); !plain) return fail(plain);
  const Result<runs::Status> status = runs::read_status(path);
  if (!status) return fail(status);
  if (status->condition == runs::Condition::running)
    return fail("{}: the run is still going on", path);
  auto recipe = read_file_if_there(path + "/recipe.toml", kLargestRecipe, PlainFile::Links::refuse);
  if (!recipe) return fail(recipe);
  if (!*recipe) return fail("{}/recipe.toml: there is none", path);

  ForeignRun run;
  const Result<runs::Launch> launched = runs::read_launch(path);
  run.name = name_of(launched, path);
  run.recipe = std::move(**recipe);
  if (launched) {
    const runs::Ancestry& from = launched->ancestry;
    if (const auto kind = storage::lineage_kind(from.kind))
      run.lineage = storage::Lineage{*kind, 0, from.parent, from.step};
  }
  if (const Result<> ending = read_ending(*status, run); !ending) return fail(ending);
  run.created = start_of(path);
  for (const launch::LogName& log : *logs) run.logs.push_back(foreign_log(path, log));
  return run;
}

}  // namespace

const Importer kHeddleRun{kFirstLog, "the directory of a run", recognise_run_dir, identify_run_dir,
                          read_run_dir};

}  // namespace heddle::workbench
