// Reads one host's records of a run over its connection and puts them into the store.
//
// A log is read from the store's cursor on. The host's end.json is read along with the logs: once
// it is there nothing is added any more, so the first reading after it that brings nothing means
// that all of the host's part is in the store.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runs/run_files.h"
#include "engine/telemetry/log_reader.h"
#include "remote/node.h"
#include "storage/writer.h"
#include "workbench/backend.h"
#include "workbench/place.h"

namespace heddle::workbench {

class HostFeed {
 public:
  /// Feeds from the place's host `index`. `clock_ahead`: as it was found earlier, see there.
  HostFeed(storage::Writer& writer, storage::RunId run, const Place& place, size_t index,
           double clock_ahead = 0);

  /// Connects if there is no connection, with what the target's hosts and keys now are. Asks the
  /// store where to read on.
  Result<> connect(const remote::Target& target);
  bool connected() const { return node_ && node_->connected(); }
  /// By how many seconds the host's clock is ahead of this machine's. Within a second of what it
  /// was, it stays: all times of a run are by one clock.
  double clock_ahead() const { return clock_ahead_; }
  void disconnect() { node_.reset(); }

  /// Reads what is new of the logs and puts it into the store; the bytes that came. The end record
  /// of the supervisor's log is left for take_end.
  Result<uint64_t> poll();

  /// Asks the host how the supervisor is. One that is gone and left a forged end is lost.
  Result<runs::Status> status();

  /// The job that it runs in, of a place with jobs.
  Result<std::optional<Job>> job();

  /// Whether there is a run directory at all.
  Result<bool> has_run_dir();

  /// Nothing more will come: its end.json was seen, or its supervisor is known to be dead, and a
  /// later poll brought nothing.
  bool drained() const { return drained_; }
  /// There is no supervisor and no end, for this cause: what is there is all there will be.
  void give_up(std::string cause) { loss_ = std::move(cause); }
  /// It does not answer, and will not be asked again.
  void leave(std::string cause) {
    give_up(std::move(cause));
    drained_ = true;
  }
  bool lost() const { return loss_ && !end_; }
  /// Why; of a lost one.
  const std::string& loss() const { return *loss_; }
  /// Its end.json was not written by the run's supervisor, and counts for nothing.
  bool forged() const { return forged_; }
  const std::optional<runs::End>& end() const { return end_; }
  /// Its ranks have failed, and status() will say whether its job goes on all the same.
  bool unsettled() const { return !end_ && provisional_ && provisional_->state == "failed"; }

  /// Asks the supervisor to kill its ranks; once is enough.
  Result<> kill();

  /// Once drained: marks the ranks' logs as complete.
  Result<> end_logs();
  /// Once drained, of a run on one host: the rest of the supervisor's log, whose end record ends
  /// the run in the store. Not before: what the store holds of an ended run is all there is.
  Result<> take_end();

  const std::string& name() const { return name_; }
  std::string run_dir() const { return share_.run_dir(); }

 private:
  struct Log {
    int32_t rank = 0;
    std::string path;
    uint64_t offset = 0;
  };

  Result<> note_clock(double ahead);
  Result<> judge_failure();
  /// Takes the end from end.json, if it is there and the supervisor's own.
  void look_for_end(const std::optional<std::string>& file);
  Result<> ingest(Log& log, std::string bytes);
  /// How many of these bytes of the supervisor's log, from `offset` on, come before its end record.
  size_t before_end(uint64_t offset, std::string_view bytes);

  storage::Writer& writer_;
  storage::RunId run_;
  Share share_;
  int32_t epoch_;
  std::string end_key_;
  size_t index_;
  std::string name_;
  double clock_ahead_;
  const Backend& backend_;
  std::unique_ptr<remote::Node> node_;
  std::vector<Log> logs_;
  telemetry::LogReader supervisor_reader_;
  std::optional<uint64_t> supervisor_end_;  // where the end record begins, once it was seen
  std::optional<runs::End> end_;
  std::optional<runs::End> provisional_;  // of a job: its end unless it goes on by itself
  std::optional<std::chrono::steady_clock::time_point> failed_since_;  // in its end.json
  std::optional<std::string> loss_;
  bool forged_ = false;
  bool drained_ = false;
  bool kill_asked_ = false;
};

}  // namespace heddle::workbench
