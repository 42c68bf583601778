// A run as the store keeps it: plain data. A number that is NaN or infinite stays so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::storage {

using RunId = int64_t;

/// queued: it waits for its target (queue.h). waiting: its job waits in a batch system's queue
/// (job.h).
enum class RunState { queued, preparing, waiting, running, done, failed, stopped, lost };

/// "queued" … "lost".
std::string to_string(RunState state);
std::optional<RunState> run_state(const std::string& name);

/// Its ranks are gone, and nothing more comes.
inline bool has_ended(RunState state) { return state > RunState::running; }

/// Its ranks train, are being started, or have a job that waits for its nodes.
inline bool is_going(RunState state) { return state > RunState::queued && !has_ended(state); }

/// A number, or words.
using Value = std::variant<double, std::string>;
using Values = std::map<std::string, Value>;

/// The run that a run goes on from, and the step of the checkpoint that it began with.
struct Lineage {
  enum class Kind { resume, fork };
  Kind kind = Kind::resume;
  RunId parent = 0;         // 0: it has been removed, or is of another store
  std::string parent_name;  // as it was called then
  int64_t step = 0;
  bool operator==(const Lineage&) const = default;
};

/// "resume", "fork".
std::string to_string(Lineage::Kind kind);
std::optional<Lineage::Kind> lineage_kind(const std::string& name);
/// "resume of debug after step 1,266": the same wherever a run's origin is shown.
std::string words_of(const Lineage& lineage);

/// How a queued run waits and begins.
struct Waiting {
  int64_t at_once = 1;           // it starts while fewer runs are going on on its target
  std::string mode = "planned";  // planned | eager
};

/// A run about to be launched or imported.
struct NewRun {
  std::string name;  // a wish: when taken, "-2", "-3" … is added
  std::string target;
  std::string recipe_name;
  std::string recipe;  // TOML
  /// The recipe flattened (recipe::flatten): compared key by key.
  std::vector<std::pair<std::string, std::string>> recipe_values;
  std::string hosts = "[]";  // JSON, the launcher's
  std::string run_dir;
  double created = 0;  // Unix seconds; 0: now
  std::optional<Lineage> lineage;
  std::string group;               // the sweep or group that it belongs to
  std::optional<Waiting> waiting;  // it begins in the queue
  /// Its checkpoints go to the recipe's checkpoint.folder: no other unfinished run of the target
  /// may save there.
  bool claims_folder = false;
  /// Its logs are in `run_dir` and complete: the Writer that makes the run takes them in, and needs
  /// no lease for that. A directory has one such run.
  bool imported = false;
};

/// A row of the runs list.
struct RunSummary {
  RunId id = 0;
  std::string name;
  RunState state = RunState::preparing;
  std::string cause;  // why it failed, stopped, was lost, or waits
  std::string target;
  std::string recipe_name;
  double created = 0;  // Unix seconds
  std::optional<double> started;
  std::optional<double> finished;
  std::optional<Lineage> lineage;
  std::vector<std::string> tags;
  std::string notes;
  std::string group;               // the sweep or group that it belongs to; empty: none
  std::string color;               // "#rrggbb", a marker or both; empty: by its number
  std::optional<double> starred;   // since when
  std::optional<double> archived;  // since when
  int64_t steps = 0;               // the last step that ended
  std::optional<double> tokens_per_second_per_rank;  // median without the first 3 steps
  std::optional<double> loss;                        // the last one
  std::optional<double> trashed;                     // since when it is in the trash
  std::vector<float> sparkline;                      // the loss, at most 60 points, evenly spaced
};

/// The runs that changed after a moment, and where to go on from.
struct RunChanges {
  int64_t cursor = 0;
  std::vector<RunSummary> changed;  // in the trash too; in the order of their last changes
  std::vector<RunId> removed;       // for good
};

/// One run in full.
struct RunDetail {
  RunSummary summary;
  std::string recipe;  // TOML
  std::string hosts;   // JSON; empty where the store is not trusted, as is run_dir
  std::string run_dir;
  Values environment;
  Values results;
  std::vector<std::string> series;  // names, sorted
  std::vector<std::string> axes;    // besides the step: some of "time" and "tokens"
  std::vector<int32_t> ranks;       // ranks that have logs, sorted, without the supervisor
};

/// How far one log has been read.
struct LogCursor {
  int32_t rank = 0;
  int32_t epoch = 0;
  uint64_t offset = 0;    // everything before it is in the store: read on from here
  uint64_t next_seq = 0;  // the sequence number expected next
  int64_t records = 0;    // in the store
};

/// Damage found in a log.
struct LogGap {
  int32_t rank = 0;
  int32_t epoch = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
};

/// A line of a run's log. `rank` is telemetry::kSupervisorRank for the supervisor and the
/// workbench.
struct LogLine {
  int64_t id = 0;  // grows: "after this one"
  int32_t rank = telemetry::kSupervisorRank;
  double time = 0;
  telemetry::Level level = telemetry::Level::info;
  std::string text;
};

/// Where runs can be launched. The store does not look into the JSON texts.
struct Target {
  std::string name;
  std::string kind;              // local | ssh | slurm
  std::string hosts = "[]";      // JSON
  std::string host_keys = "[]";  // JSON: the keys a person has accepted
  std::string probe = "{}";      // JSON: the last probe's result
};

/// Something another process asks of the one that follows runs.
struct Request {
  int64_t id = 0;
  RunId run = 0;
  std::string verb;  // stop | checkpoint
};

}  // namespace heddle::storage
