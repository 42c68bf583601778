// The one way to write to the store. All methods may be called from any thread: each puts a job on
// a queue that one thread, which owns the connection, works off in order; jobs that wait together
// share a transaction. A future is ready once its job is on the disk (or has failed and changed
// nothing).
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/link.h"
#include "storage/queue.h"
#include "storage/run.h"
#include "storage/step_columns.h"

namespace heddle::storage {

/// The run that create_run made: its name may have been lengthened to be unique.
struct CreatedRun {
  RunId id = 0;
  std::string name;
};

/// The result of an ingest.
struct Ingested {
  int64_t records = 0;        // new ones
  int64_t gaps = 0;           // new ones
  uint64_t acknowledged = 0;  // bytes of the log before this are in the store for good
  uint64_t next_offset = 0;   // feed from here on (a record's first part may be held already)
};

class Writer {
 public:
  template <typename T = void>
  using Future = std::future<Result<T>>;

  /// Prepares the store and opens it. Several processes may have a Writer; see take_lease.
  static Result<std::unique_ptr<Writer>> open(const std::string& path);

  /// Works off the queue, then closes.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Takes the ingest lease for this Writer's life; without it `ingest` and `end_log` (of runs that
  /// this Writer has not imported) and `take_requests` fail. Fails at once when another process has
  /// it. Taking it again is fine.
  Result<> take_lease();
  bool has_lease() const;

  /// The store's file.
  const std::string& path() const { return path_; }

  /// Refused where another unfinished run resumes the same parent, or saves in the folder claimed.
  Future<CreatedRun> create_run(NewRun run);
  /// All of them or none; `halving` is their group's.
  Future<std::vector<CreatedRun>> create_runs(std::vector<NewRun> runs, Halving halving = {});
  /// A queued run gets its place and leaves the queue: its state is preparing. Fails when it does
  /// not wait any more.
  Future<> begin_queued(RunId run, std::string hosts_json, std::string run_dir);
  /// Ends a queued run as stopped. Fails when it does not wait any more.
  Future<> take_out(RunId run);
  /// These queued runs come first, in this order.
  Future<> reorder_queue(std::vector<RunId> runs);
  /// Also sets `started` (running) or `finished` (an end) to `time`, by this machine's clock. 0:
  /// now, or the last sign of life of a lost run.
  Future<> set_state(RunId run, RunState state, std::string cause = {}, double time = 0);
  Future<> set_place(RunId run, std::string hosts_json, std::string run_dir);
  Future<> set_environment(RunId run, Values values);  // adds or replaces keys
  Future<> set_results(RunId run, Values values);      // adds or replaces keys
  Future<> set_notes(RunId run, std::string notes);
  /// The tags that the run has then. Other writers' tags stay: no list of a reader's is written.
  Future<std::vector<std::string>> change_tags(RunId run, std::vector<std::string> add,
                                               std::vector<std::string> remove = {});
  Future<> rename(RunId run, std::string name);
  Future<> set_starred(RunId run, bool starred);
  /// An archived run is kept and found, and left out of lists that do not ask for such.
  Future<> set_archived(RunId run, bool archived);
  /// "#rrggbb", one of `kRunMarkerNames`, or "#rrggbb square"; empty: the stroke of its number.
  Future<> set_color(RunId run, std::string color);
  /// The sweep or group that it belongs to; empty: none.
  Future<> set_group(RunId run, std::string group);
  /// For a run that is going on; its end removes the link. `heard` never goes back.
  Future<> set_link(RunId run, Link link);
  /// `line.id` is ignored; `line.time` 0: now.
  Future<> add_line(RunId run, LogLine line);

  /// An ended run leaves every list and comparison, and frees its name.
  Future<> trash(RunId run);
  /// Under its own name where that is free, else with "-2", "-3" … added.
  Future<> restore(RunId run);
  /// For good: every row of the run.
  Future<> remove(RunId run);

  /// Takes in the bytes [offset, offset + bytes.size()) of a rank's log. Bytes taken in before
  /// are skipped, so feeding the same or overlapping bytes again changes nothing. Fails when bytes
  /// between `cursor` and `offset` are missing. The supervisor's log is rank
  /// telemetry::kSupervisorRank: its end record ends the run.
  Future<Ingested> ingest(RunId run, int32_t rank, int32_t epoch, uint64_t offset,
                          std::string bytes);
  /// Adds to the end of a log that nobody else feeds.
  Future<Ingested> append(RunId run, int32_t rank, int32_t epoch, LogPart part);
  /// The log will not grow any more: a torn tail becomes a gap.
  Future<Ingested> end_log(RunId run, int32_t rank, int32_t epoch);
  /// The offset to feed a log from.
  Future<uint64_t> cursor(RunId run, int32_t rank, int32_t epoch);

  Future<> save_target(Target target);  // adds or replaces
  Future<> remove_target(std::string name);

  /// Asks the process that holds the lease to do something with a run.
  Future<> request(RunId run, std::string verb);
  /// The requests since the last call; each one is handed out once.
  Future<std::vector<Request>> take_requests();

 private:
  class Thread;
  Writer(std::string path, std::unique_ptr<Thread> thread);
  std::string path_;
  std::unique_ptr<Thread> thread_;
};

}  // namespace heddle::storage
