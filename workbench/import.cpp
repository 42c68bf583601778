#include "workbench/import.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <vector>

#include "engine/launch/launch.h"
#include "engine/launch/run_files.h"
#include "engine/recipe/parse.h"
#include "engine/telemetry/record.h"
#include "workbench/place.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = 1 << 20;

struct Log {
  int32_t epoch = 0;
  int32_t rank = 0;
  std::string path;
};

/// "rank-3.0.hlog" and "supervisor.0.hlog"; of other names nothing.
std::optional<Log> log_of(const fs::path& path) {
  const std::string name = path.filename();
  if (path.extension() != ".hlog") return {};
  Log log{.path = path};
  const char* at = name.data();
  const char* end = name.data() + name.size() - 5;
  if (name.starts_with("rank-")) {
    const auto rank = std::from_chars(at + 5, end, log.rank);
    if (rank.ec != std::errc()) return {};
    at = rank.ptr;
  } else if (name.starts_with("supervisor")) {
    log.rank = telemetry::kSupervisorRank;
    at += 10;
  }
  if (at == end || *at != '.') return {};
  const auto epoch = std::from_chars(at + 1, end, log.epoch);
  return epoch.ec == std::errc() && epoch.ptr == end ? std::optional(log) : std::nullopt;
}

/// In the order to take them in: attempt by attempt, the supervisor's, which ends the run, last.
Result<std::vector<Log>> logs_of(const std::string& run_dir) {
  std::vector<Log> logs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_dir, error)) {
    if (std::optional<Log> log = log_of(entry.path())) logs.push_back(std::move(*log));
  }
  if (error) return fail("{}: {}", run_dir, error.message());
  std::sort(logs.begin(), logs.end(), [](const Log& a, const Log& b) {
    const auto order = [](const Log& log) {
      return std::tuple(log.epoch, log.rank == telemetry::kSupervisorRank, log.rank);
    };
    return order(a) < order(b);
  });
  if (std::none_of(logs.begin(), logs.end(), [](const Log& log) { return log.rank == 0; })) {
    return fail("{}: there is no rank-0.0.hlog; valid: the directory of a run", run_dir);
  }
  return logs;
}

Result<> take_log(storage::Writer& writer, storage::RunId run, const Log& log) {
  std::ifstream file(log.path, std::ios::binary);
  if (!file) return fail("{}: cannot be read", log.path);
  std::string piece(kPiece, '\0');
  for (uint64_t offset = 0; file;) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<size_t>(file.gcount());
    if (count == 0) break;
    const auto taken =
        writer.ingest(run, log.rank, log.epoch, offset, piece.substr(0, count)).get();
    if (!taken) return fail("{}: {}", log.path, taken.error().message);
    offset += count;
  }
  const auto ended = writer.end_log(run, log.rank, log.epoch).get();
  return ended ? Result<>{} : fail("{}: {}", log.path, ended.error().message);
}

Result<> take_logs(storage::Writer& writer, storage::RunId run, const std::vector<Log>& logs,
                   const launch::Status& status) {
  for (const Log& log : logs) {
    if (Result<> taken = take_log(writer, run, log); !taken) return taken;
  }
  if (!status.end) {
    return writer.set_state(run, storage::RunState::lost, "imported without an end.json").get();
  }
  const auto state = storage::run_state(status.end->state);
  if (!state) return fail("end.json: state '{}' is unknown", status.end->state);
  return writer.set_state(run, *state, status.end->cause, status.end->finished).get();
}

/// What the run was launched as; `train` names none, then the folder does.
std::string name_of(const fs::path& folder) {
  const Result<launch::Launch> launched = launch::read_launch(folder);
  if (launched && launched->run != "train") return launched->run;
  return (folder.has_filename() ? folder : folder.parent_path()).filename();
}

}  // namespace

Result<storage::CreatedRun> import_run(storage::Writer& writer, const std::string& run_dir,
                                       const std::string& name) {
  const std::string folder = fs::absolute(run_dir).lexically_normal();
  const Result<std::vector<Log>> logs = logs_of(folder);
  if (!logs) return fail(logs);
  const Result<launch::Status> status = launch::read_status(folder);
  if (!status) return fail(status);
  if (status->condition == launch::Condition::running) {
    return fail("{}: the run is still going on", run_dir);
  }
  std::ifstream recipe_file(folder + "/recipe.toml");
  if (!recipe_file) return fail("{}/recipe.toml: cannot be read", run_dir);

  storage::NewRun run;
  run.recipe = {std::istreambuf_iterator<char>(recipe_file), {}};
  const recipe::Parsed parsed = recipe::parse(run.recipe, folder + "/recipe.toml");
  // A newer Heddle's recipe may have keys that this one does not know: what can be read is
  // compared.
  run.recipe_values = recipe::flatten(recipe::resolve(parsed).recipe);
  run.name = name.empty() ? name_of(folder) : name;
  run.recipe_name = run.name;
  run.target = "imported";
  run.hosts = to_json(place_on(remote::this_machine()));
  if (const Result<launch::Launch> launched = launch::read_launch(folder)) {
    const launch::Ancestry& from = launched->ancestry;
    if (const auto kind = storage::lineage_kind(from.kind))
      run.lineage = storage::Lineage{*kind, 0, from.parent, from.step};
  }
  if (status->end) run.created = status->end->finished;
  Result<storage::CreatedRun> created = writer.create_run(std::move(run)).get();
  if (!created) return created;
  if (const Result<> taken = take_logs(writer, created->id, *logs, *status); !taken) {
    [[maybe_unused]] const Result<> removed = writer.remove(created->id).get();
    return fail(taken);
  }
  return created;
}

}  // namespace heddle::workbench
