#include "workbench/host_feed.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/read_json.h"
#include "engine/launch/end_proof.h"
#include "engine/telemetry/record.h"
#include "remote/connect.h"
#include "storage/clock.h"

namespace heddle::workbench {
namespace {

constexpr uint64_t kFeedPiece = 1 << 20;
/// Bytes of all logs at once: nothing counts before all of it has come, and a slow link brings
/// this much well before the host is given up.
constexpr uint64_t kAtOnce = 2 << 20;
/// The error of a clock that is measured over a network, in seconds.
constexpr double kClockNoise = 1;
/// The batch system knows by then that a node is gone, and its queue has been asked again.
constexpr std::chrono::seconds kFailureSettles{12};

}  // namespace

HostFeed::HostFeed(storage::Writer& writer, storage::RunId run, const Place& place, size_t index,
                   double clock_ahead)
    : writer_(writer),
      run_(run),
      share_(place.shares[index]),
      epoch_(place.epoch),
      end_key_(place.end_key),
      index_(index),
      name_(place.target.part_name(index)),
      clock_ahead_(clock_ahead),
      backend_(backend_of(place.target)) {
  for (int32_t rank = share_.first_rank; rank < share_.first_rank + share_.local_ranks; ++rank) {
    logs_.push_back({rank, fmt::format("{}/rank-{}.{}.hlog", share_.run_dir(), rank, epoch_), 0});
  }
  // A run has one supervisor's log in the store: rank 0's host's.
  if (index == 0) {
    logs_.push_back({telemetry::kSupervisorRank,
                     fmt::format("{}/supervisor.{}.hlog", share_.run_dir(), epoch_), 0});
  }
}

Result<> HostFeed::connect(const remote::Target& target) {
  if (connected()) return {};
  remote::ConnectOptions options;
  options.background = true;
  auto node = remote::connect(target, target.host_of(index_), options);
  if (!node) return fail("{}", node.error().message);
  node_ = std::move(*node);
  if (Result<> noted = note_clock(node_->greeting().clock_ahead); !noted) return noted;
  for (Log& log : logs_) {
    const Result<uint64_t> cursor = writer_.cursor(run_, log.rank, epoch_).get();
    if (!cursor) return fail(cursor);
    log.offset = *cursor;
    if (log.rank == telemetry::kSupervisorRank) supervisor_reader_ = telemetry::LogReader(*cursor);
  }
  supervisor_end_.reset();
  return {};
}

/// The store keeps the log of rank 0's host, by whose records a run starts and ends.
Result<> HostFeed::note_clock(double ahead) {
  if (std::abs(ahead - clock_ahead_) < kClockNoise) return {};
  clock_ahead_ = std::abs(ahead) < kClockNoise ? 0 : ahead;
  if (index_ > 0) return {};
  return writer_.set_environment(run_, {{storage::kClockAhead, clock_ahead_}}).get();
}

Result<uint64_t> HostFeed::poll() {
  // A run that ended before this reading has been read completely when nothing came.
  const bool over = end_ || loss_;
  // In one go, since each costs a login shell; the end first, which is written last.
  std::vector<remote::Range> ranges{{share_.run_dir() + "/end.json", 0, kFeedPiece}};
  const uint64_t most = std::min(kFeedPiece, kAtOnce / std::max<uint64_t>(logs_.size(), 1));
  for (const Log& log : logs_) ranges.push_back({log.path, log.offset, most});
  auto pieces = backend_.logs(*node_, ranges);
  if (!pieces) return fail(pieces);
  if (!end_) look_for_end(pieces->front());
  uint64_t came = 0;
  for (size_t i = 0; i < logs_.size(); ++i) {
    std::optional<std::string>& piece = (*pieces)[i + 1];
    if (piece && logs_[i].rank == telemetry::kSupervisorRank)
      piece->resize(before_end(logs_[i].offset, *piece));
    if (!piece || piece->empty()) continue;
    came += piece->size();
    if (Result<> taken = ingest(logs_[i], std::move(*piece)); !taken) return fail(taken);
  }
  if (over && came == 0) drained_ = true;
  return came;
}

void HostFeed::look_for_end(const std::optional<std::string>& file) {
  provisional_.reset();
  if (!file) failed_since_.reset();
  if (!file) return;
  const auto json = read_json(*file, runs::kRunFile);
  Result<runs::End> end = json ? runs::end_from_json(*json) : fail(json);
  const launch::Part part{share_.folder, epoch_, share_.first_rank, share_.local_ranks};
  forged_ = !end || !launch::is_proven(*end, part, end_key_);
  if (forged_) return;
  const bool may_go_on = backend_.ends_parts() && end->state != "done";
  (may_go_on ? provisional_ : end_) = std::move(*end);
}

Result<> HostFeed::ingest(Log& log, std::string bytes) {
  const Result<storage::Ingested> ingested =
      writer_.ingest(run_, log.rank, epoch_, log.offset, std::move(bytes)).get();
  if (!ingested) return fail(ingested);
  log.offset = ingested->next_offset;
  return {};
}

Result<runs::Status> HostFeed::status() {
  Result<runs::Status> status = backend_.state(*node_, share_);
  if (!status) return status;
  const bool is_over = status->condition == runs::Condition::ended;
  if (backend_.ends_parts() && is_over && !end_) {
    // The last reading may be an earlier attempt's.
    const auto file = backend_.logs(*node_, {{share_.run_dir() + "/end.json", 0, kFeedPiece}});
    if (!file) return fail(file);
    look_for_end(file->front());
    if (!end_) end_ = status->end ? status->end : provisional_;
  }
  if (!is_over && unsettled())
    if (const Result<> judged = judge_failure(); !judged) return fail(judged);
  if (forged_ && is_over) status->condition = runs::Condition::lost;
  return status;
}

/// Without a node its neighbours' ranks fail, and the job goes back into the queue. One that runs
/// on waits for the failed part in vain.
Result<> HostFeed::judge_failure() {
  if (!failed_since_) failed_since_ = std::chrono::steady_clock::now();
  if (std::chrono::steady_clock::now() - *failed_since_ < kFailureSettles) return {};
  const Result<std::optional<Job>> job = this->job();
  if (!job) return fail(job);
  if (*job && ((*job)->waits || (*job)->ends)) return {};
  end_ = provisional_;
  return {};
}

Result<std::optional<Job>> HostFeed::job() { return backend_.job(*node_, share_); }

Result<bool> HostFeed::has_run_dir() {
  const auto found = node_->stat(run_dir());
  return found ? Result<bool>(found->has_value()) : fail(found);
}

Result<> HostFeed::kill() {
  if (kill_asked_) return {};
  const auto status = backend_.order(*node_, share_, Order::kill);
  if (!status) return fail(status);
  kill_asked_ = true;
  return {};
}

size_t HostFeed::before_end(uint64_t offset, std::string_view bytes) {
  if (!supervisor_end_) supervisor_reader_.feed(bytes);
  while (!supervisor_end_) {
    const std::optional<telemetry::Event> event = supervisor_reader_.next();
    if (!event) return bytes.size();
    const auto* frame = std::get_if<telemetry::Frame>(&*event);
    if (frame && frame->type == telemetry::Type::end) supervisor_end_ = frame->offset;
  }
  return *supervisor_end_ > offset ? *supervisor_end_ - offset : 0;
}

Result<> HostFeed::end_logs() {
  for (const Log& log : logs_) {
    if (log.rank == telemetry::kSupervisorRank) continue;
    const auto ended = writer_.end_log(run_, log.rank, epoch_).get();
    if (!ended) return fail(ended);
  }
  return {};
}

Result<> HostFeed::take_end() {
  Log& log = logs_.back();
  for (;;) {
    const auto piece = backend_.logs(*node_, {{log.path, log.offset, kFeedPiece}});
    if (!piece) return fail(piece);
    const std::optional<std::string>& bytes = piece->front();
    if (!bytes || bytes->empty()) break;
    if (Result<> taken = ingest(log, *bytes); !taken) return taken;
  }
  const auto ended = writer_.end_log(run_, log.rank, epoch_).get();
  return ended ? Result<>{} : fail(ended);
}

}  // namespace heddle::workbench
