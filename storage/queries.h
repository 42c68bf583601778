// The store's read side: every query of the pages and commands.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/telemetry/record.h"
#include "storage/link.h"
#include "storage/metric_summary.h"
#include "storage/queue.h"
#include "storage/run.h"

namespace heddle::storage {

class Connection;

/// Inclusive at both ends.
struct StepRange {
  int64_t first = 0;
  int64_t last = std::numeric_limits<int64_t>::max();
};

struct Sample {
  int64_t step = 0;
  double value = 0;
};

/// Takes samples in order, some hundreds at a time: their steps and their values.
using TakeSamples =
    std::function<void(std::span<const int64_t> steps, std::span<const double> values)>;

/// One or several neighbouring samples. min, max and mean leave out values that are not finite (NaN
/// if nothing is); `last` is the last sample as it was.
struct Bin {
  int64_t first_step = 0;
  int64_t last_step = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double last = 0;
  uint32_t count = 0;
  uint32_t nonfinite = 0;
};

/// A step record in the order in which it came in.
struct StepRow {
  int64_t id = 0;  // grows: "after this one"
  int32_t rank = 0;
  int32_t epoch = 0;
  telemetry::Step step;
};

/// The timeline of one profiled step of one rank.
struct RankSpans {
  int32_t rank = 0;
  telemetry::Spans spans;
};

/// Whether two values (nullopt: none) are the same when written out in full: words by their
/// letters, numbers by nine digits, so that 1e-3 is 0.001 and a last bit is no difference.
bool same(const std::optional<Value>& a, const std::optional<Value>& b);

/// A key with its value in each of the compared runs (nullopt: the run has none).
struct Compared {
  std::string key;
  std::vector<std::optional<Value>> values;
  bool differs() const;  // not all values are the same
};

/// The compared parts of a run.
struct Comparand {
  RunSummary summary;
  Values recipe, environment, results;
};

struct Comparison {
  std::vector<RunSummary> runs;
  std::vector<Compared> recipe;  // all keys, as in the other two
  std::vector<Compared> environment;
  std::vector<Compared> results;
};
Comparison compare(std::vector<Comparand> runs);

/// The space a run takes in the store.
struct RunSize {
  int64_t records = 0;
  uint64_t bytes = 0;
};

/// Counts and checksums of one log as the store has it: to compare with the file's own.
struct LogDigest {
  int32_t rank = 0;
  int32_t epoch = 0;
  int64_t records = 0;
  uint64_t first_seq = 0;
  uint64_t last_seq = 0;
  uint64_t checksum = 0;  // the sum of the records' digests, whatever their order
};
/// One record: its sequence number and its frame's checksum.
uint64_t digest_of(uint64_t seq, uint64_t checksum);

/// Records of a log as the log had them.
struct LogPiece {
  std::string bytes;      // frames; empty: there are no more
  uint64_t next_seq = 0;  // go on from here
};

/// A read connection. Used by one thread at a time; open one per thread. No query leaves a
/// transaction open, so writers are never held up. Steps that a later attempt (epoch) repeated are
/// taken from it.
class Reader {
 public:
  /// Prepares the store (an absent one becomes an empty one), then opens it read-only.
  static Result<Reader> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Whether anything was committed by anyone since the last call (the first call: true). Fails
  /// where the store's files were removed or replaced. Microseconds.
  Result<bool> changed();

  /// Where the store is damaged and a list (runs, column) left out what it could not read: what,
  /// and what to do.
  const std::optional<std::string>& damage() const { return damage_; }

  /// Newest first. Reads summary rows only, and of those only the ones that changed since the last
  /// call. `trashed`: only runs in the trash; else only the others.
  Result<std::vector<RunSummary>> runs(bool trashed = false);
  /// The runs whose summary, recipe, facts or metrics changed since the call that gave `cursor`;
  /// 0: all.
  Result<RunChanges> runs_changed_since(int64_t cursor);
  /// The runs that have not ended, queued ones too, oldest first. Costs nothing for those that
  /// have.
  Result<std::vector<RunSummary>> unfinished_runs();
  /// Oldest first, those in the trash too.
  Result<std::vector<RunSummary>> runs_of_group(const std::string& group);
  /// The runs that wait, in their order.
  Result<std::vector<QueuedRun>> queue();
  Result<Halvings> halvings();
  /// The colors that people have given to runs, those in the trash too.
  Result<std::map<RunId, std::string>> colors();
  /// The links of the runs that are going on, once someone has followed them.
  Result<std::map<RunId, Link>> links();
  /// Whether a process follows the runs of this store now (holds its ingest lease).
  Result<bool> followed() const;
  /// By name, or by id in digits. A run in the trash is found with `trash_too` only.
  Result<RunSummary> find_run(const std::string& name_or_id, bool trash_too = false);
  /// The name that create_run would give for that wish now.
  Result<std::string> free_name(const std::string& wish);
  /// One run, in the trash or not.
  Result<RunDetail> run(RunId run);
  Result<RunSize> size_of(RunId run);
  /// Runs of that run directory, on whichever host, newest first, those in the trash too.
  Result<std::vector<RunId>> runs_in(const std::string& run_dir);
  /// Runs whose rank 0 began with the record of that checksum (as telemetry::Frame has it), newest
  /// first, those in the trash too: it tells the time, so that they are one run.
  Result<std::vector<RunId>> runs_that_began(uint64_t checksum);
  /// The recipe's flattened keys and values, as create_run was given them.
  Result<Values> recipe_values(RunId run);
  /// All names of recipe., environment. and results. values in the store, with that prefix: the
  /// columns a runs table can show. Here and in `column` runs in the trash count too: the caller
  /// has a list of runs.
  Result<std::vector<std::string>> columns();
  /// One column ("recipe.optimizer.lr") over all runs.
  Result<std::map<RunId, Value>> column(const std::string& name);
  /// All metrics that any run has as a series, sorted: more columns.
  Result<std::vector<std::string>> metric_names();
  /// One metric over all runs that have it.
  Result<std::map<RunId, MetricSummary>> metric_summaries(const std::string& name);
  /// All metrics of one run.
  Result<std::map<std::string, MetricSummary>> metric_summaries(RunId run);
  Result<Comparison> compare(const std::vector<RunId>& runs);

  /// At most `max_points` bins over the range, from the pyramid. Two names mean x axes, for
  /// runs that have them (RunDetail::axes), in `samples` too: "time", the seconds since the rank's
  /// first step, and "tokens", the metric tokens_seen where none is called so.
  Result<std::vector<Bin>> series(RunId run, const std::string& name, int32_t rank, StepRange range,
                                  size_t max_points);
  /// Every sample in the range, in order: for smoothing, which is never computed from bins. Keeps
  /// no more than a chunk of them.
  Result<> each_sample(RunId run, const std::string& name, int32_t rank, StepRange range,
                       const TakeSamples& take);
  /// The same, of few: all at once.
  Result<std::vector<Sample>> samples(RunId run, const std::string& name, int32_t rank,
                                      StepRange range = {});
  /// Step records that came in after row `after_id`, oldest first: for pages that follow a run.
  Result<std::vector<StepRow>> steps_after(RunId run, int64_t after_id, size_t limit = 10000);
  /// The newest step records, at most so many of a rank, in the order in which they came in: where
  /// following a run begins.
  Result<std::vector<StepRow>> newest_steps(RunId run, size_t of_a_rank);

  /// Steps that have a timeline, ascending.
  Result<std::vector<int64_t>> profiled_steps(RunId run);
  /// Timelines of one step, by rank. Empty when there is none.
  Result<std::vector<RankSpans>> spans(RunId run, int64_t step);
  /// The plan that the run's newest attempt was predicted to follow; none for runs of engines that
  /// predict nothing, eager ones, and those by a graph file.
  Result<std::optional<telemetry::Plan>> plan(RunId run);

  /// Oldest first.
  Result<std::vector<LogLine>> lines_after(RunId run, int64_t after_id, size_t limit = 10000);
  Result<std::vector<LogLine>> last_lines(RunId run, size_t limit);
  Result<std::vector<LogGap>> gaps(RunId run);
  Result<std::vector<LogCursor>> logs(RunId run);
  Result<std::vector<LogDigest>> digests(RunId run);
  /// The log's next records from `seq` on, byte by byte as they came.
  Result<LogPiece> log_piece(RunId run, int32_t rank, int32_t epoch, uint64_t seq);

  Result<std::vector<Target>> targets();

 private:
  Reader(std::unique_ptr<Connection> connection, bool trusted);
  std::unique_ptr<Connection> connection_;
  bool trusted_;
  int64_t data_version_ = -1;
  std::optional<std::string> damage_;
  std::vector<RunSummary> runs_;  // all, newest first, as of the change `runs_cursor_`
  int64_t runs_cursor_ = 0;
};

}  // namespace heddle::storage
