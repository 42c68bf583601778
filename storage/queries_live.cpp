// Queries about what happened inside a run: series, steps, timelines, log.
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "engine/telemetry/frame.h"
#include "storage/connection.h"
#include "storage/lease.h"
#include "storage/queries.h"
#include "storage/series.h"
#include "storage/step_rows.h"

namespace heddle::storage {
namespace {

int32_t small(const Rows& rows, int column) { return static_cast<int32_t>(rows.integer(column)); }

LogLine line_in(const Rows& rows) {
  return {rows.integer(0), small(rows, 1), rows.real(2),
          static_cast<telemetry::Level>(rows.integer(3)), rows.text(4)};
}

}  // namespace

Result<std::map<RunId, std::string>> Reader::colors() {
  return guarded(*connection_, [&]() -> Result<std::map<RunId, std::string>> {
    std::map<RunId, std::string> colors;
    Rows rows = connection_->query("SELECT id, color FROM runs WHERE color != ''");
    while (rows.next()) colors[rows.integer(0)] = rows.text(1);
    return colors;
  });
}

Result<std::map<RunId, Link>> Reader::links() {
  return guarded(*connection_, [&]() -> Result<std::map<RunId, Link>> {
    std::map<RunId, Link> links;
    Rows rows = connection_->query("SELECT run, heard, lost, next_try, reason, waits FROM links");
    while (rows.next()) {
      links[rows.integer(0)] = {rows.real(1), rows.optional_real(2), rows.optional_real(3),
                                rows.text(4), rows.text(5)};
    }
    return links;
  });
}

Result<bool> Reader::followed() const { return Lease::is_held(connection_->path()); }

Result<std::vector<Bin>> Reader::series(RunId run, const std::string& name, int32_t rank,
                                        StepRange range, size_t max_points) {
  return guarded(*connection_, [&]() -> Result<std::vector<Bin>> {
    const ReadTransaction transaction(*connection_);
    const size_t points = std::max<size_t>(1, max_points);
    return thinned(read_chart(*connection_, run, name, rank, range, points), points);
  });
}

Result<> Reader::each_sample(RunId run, const std::string& name, int32_t rank, StepRange range,
                             const TakeSamples& take) {
  return guarded(*connection_, [&]() -> Result<> {
    const ReadTransaction transaction(*connection_);
    read_chart_samples(*connection_, run, name, rank, range, take);
    return {};
  });
}

Result<std::vector<Sample>> Reader::samples(RunId run, const std::string& name, int32_t rank,
                                            StepRange range) {
  std::vector<Sample> samples;
  const Result<> read = each_sample(run, name, rank, range, [&](auto steps, auto values) {
    for (size_t i = 0; i < steps.size(); ++i) samples.push_back({steps[i], values[i]});
  });
  if (!read) return fail(read);
  return samples;
}

Result<std::vector<StepRow>> Reader::steps_after(RunId run, int64_t after_id, size_t limit) {
  return guarded(*connection_, [&]() -> Result<std::vector<StepRow>> {
    const ReadTransaction transaction(*connection_);
    return read_steps(*connection_, run, after_id, limit);
  });
}

Result<std::vector<StepRow>> Reader::newest_steps(RunId run, size_t of_a_rank) {
  return guarded(*connection_, [&]() -> Result<std::vector<StepRow>> {
    const ReadTransaction transaction(*connection_);
    return read_newest_steps(*connection_, run, of_a_rank);
  });
}

Result<std::vector<int64_t>> Reader::profiled_steps(RunId run) {
  return guarded(*connection_, [&]() -> Result<std::vector<int64_t>> {
    std::vector<int64_t> steps;
    Rows rows =
        connection_->query("SELECT DISTINCT step FROM spans WHERE run = ? ORDER BY step", run);
    while (rows.next()) steps.push_back(rows.integer(0));
    return steps;
  });
}

Result<std::vector<RankSpans>> Reader::spans(RunId run, int64_t step) {
  return guarded(*connection_, [&]() -> Result<std::vector<RankSpans>> {
    std::vector<RankSpans> timelines;
    Rows rows = connection_->query(
        "SELECT spans.rank, payload FROM spans JOIN records ON records.id = spans.record "
        "WHERE spans.run = ? AND spans.step = ? ORDER BY spans.rank",
        run, step);
    // The ranks' records are large: as many at once as there are cores.
    using Decoding = std::pair<int32_t, std::future<Result<telemetry::Record>>>;
    std::deque<Decoding> decoding;
    const auto take = [&]() -> Result<> {
      auto [rank, result] = std::move(decoding.front());
      decoding.pop_front();
      auto record = result.get();
      if (!record) return fail(record);
      timelines.push_back({rank, std::move(std::get<telemetry::Spans>(*record))});
      return {};
    };
    const size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    while (rows.next()) {
      if (decoding.size() == at_once)
        if (const Result<> taken = take(); !taken) return fail(taken);
      decoding.emplace_back(small(rows, 0),
                            std::async(std::launch::async, [payload = std::string(rows.blob(1))] {
                              return telemetry::decode(telemetry::Type::spans, payload);
                            }));
    }
    while (!decoding.empty())
      if (const Result<> taken = take(); !taken) return fail(taken);
    return timelines;
  });
}

Result<std::optional<telemetry::Plan>> Reader::plan(RunId run) {
  return guarded(connection_->path(), [&]() -> Result<std::optional<telemetry::Plan>> {
    Rows rows = connection_->query(
        "SELECT payload FROM records WHERE run = ? AND type = ? ORDER BY id DESC LIMIT 1", run,
        static_cast<int>(telemetry::Type::plan));
    if (!rows.next()) return std::nullopt;
    auto record = telemetry::decode(telemetry::Type::plan, rows.blob(0));
    if (!record) return fail(record);
    return std::move(std::get<telemetry::Plan>(*record));
  });
}

Result<std::vector<LogLine>> Reader::lines_after(RunId run, int64_t after_id, size_t limit) {
  return guarded(*connection_, [&]() -> Result<std::vector<LogLine>> {
    std::vector<LogLine> lines;
    Rows rows = connection_->query(
        "SELECT id, rank, time, level, text FROM lines WHERE run = ? AND id > ? ORDER BY id LIMIT "
        "?",
        run, after_id, limit);
    while (rows.next()) lines.push_back(line_in(rows));
    return lines;
  });
}

Result<std::vector<LogLine>> Reader::last_lines(RunId run, size_t limit) {
  return guarded(*connection_, [&]() -> Result<std::vector<LogLine>> {
    std::vector<LogLine> lines;
    Rows rows = connection_->query(
        "SELECT id, rank, time, level, text FROM lines WHERE run = ? ORDER BY id DESC LIMIT ?", run,
        limit);
    while (rows.next()) lines.push_back(line_in(rows));
    std::reverse(lines.begin(), lines.end());
    return lines;
  });
}

Result<std::vector<LogGap>> Reader::gaps(RunId run) {
  return guarded(*connection_, [&]() -> Result<std::vector<LogGap>> {
    std::vector<LogGap> gaps;
    Rows rows = connection_->query(
        "SELECT rank, epoch, offset, bytes, reason FROM gaps WHERE run = ? ORDER BY rank, epoch, "
        "offset",
        run);
    while (rows.next()) {
      gaps.push_back({small(rows, 0), small(rows, 1), static_cast<uint64_t>(rows.integer(2)),
                      static_cast<uint64_t>(rows.integer(3)), rows.text(4)});
    }
    return gaps;
  });
}

Result<std::vector<LogCursor>> Reader::logs(RunId run) {
  return guarded(*connection_, [&]() -> Result<std::vector<LogCursor>> {
    std::vector<LogCursor> logs;
    Rows rows = connection_->query(
        "SELECT rank, epoch, offset, next_seq, records FROM logs WHERE run = ? ORDER BY rank, "
        "epoch",
        run);
    while (rows.next()) {
      logs.push_back({small(rows, 0), small(rows, 1), static_cast<uint64_t>(rows.integer(2)),
                      static_cast<uint64_t>(rows.integer(3)), rows.integer(4)});
    }
    return logs;
  });
}

uint64_t digest_of(uint64_t seq, uint64_t checksum) {
  const uint64_t both[] = {seq, checksum};
  return XXH3_64bits(both, sizeof both);
}

Result<std::vector<LogDigest>> Reader::digests(RunId run) {
  return guarded(*connection_, [&]() -> Result<std::vector<LogDigest>> {
    const ReadTransaction transaction(*connection_);
    std::map<std::pair<int32_t, int32_t>, LogDigest> logs;
    const auto add = [&](const LogDigest& part) {
      const auto [found, is_new] = logs.try_emplace({part.rank, part.epoch}, part);
      if (is_new) return;
      LogDigest& log = found->second;
      log.first_seq = std::min(log.first_seq, part.first_seq);
      log.last_seq = std::max(log.last_seq, part.last_seq);
      log.records += part.records;
      log.checksum += part.checksum;
    };
    {
      Rows rows =
          connection_->query("SELECT rank, epoch, seq, checksum FROM records WHERE run = ?", run);
      while (rows.next()) {
        const auto seq = static_cast<uint64_t>(rows.integer(2));
        add({small(rows, 0), small(rows, 1), 1, seq, seq,
             digest_of(seq, static_cast<uint64_t>(rows.integer(3)))});
      }
    }
    Rows blocks = connection_->query(
        "SELECT rank, epoch, count, first_seq, last_seq, digest FROM step_blocks WHERE run = ?",
        run);
    while (blocks.next())
      add({small(blocks, 0), small(blocks, 1), blocks.integer(2),
           static_cast<uint64_t>(blocks.integer(3)), static_cast<uint64_t>(blocks.integer(4)),
           static_cast<uint64_t>(blocks.integer(5))});
    std::vector<LogDigest> digests;
    for (const auto& [log, digest] : logs) digests.push_back(digest);
    return digests;
  });
}

Result<LogPiece> Reader::log_piece(RunId run, int32_t rank, int32_t epoch, uint64_t seq) {
  constexpr size_t kRecords = 1000;
  return guarded(*connection_, [&]() -> Result<LogPiece> {
    const ReadTransaction transaction(*connection_);
    std::map<uint64_t, std::string> frames;
    for (const PackedStep& packed :
         read_packed_steps(*connection_, {run, rank, epoch}, seq, kRecords)) {
      auto frame = telemetry::encode(packed.step, packed.seq);
      if (!frame) return fail(frame);
      frames[packed.seq] = std::move(*frame);
    }
    {
      Rows rows = connection_->query(
          "SELECT seq, type, payload FROM records WHERE run = ? AND rank = ? AND epoch = ? AND seq "
          ">= ? ORDER BY seq LIMIT ?",
          run, rank, epoch, seq, kRecords);
      while (rows.next()) {
        const auto at = static_cast<uint64_t>(rows.integer(0));
        frames[at] = telemetry::frame(static_cast<uint16_t>(rows.integer(1)), at, rows.blob(2));
      }
    }
    LogPiece piece{{}, seq};
    size_t left = kRecords;  // after the last of either kind there may be one of the other
    for (const auto& [at, frame] : frames) {
      if (left-- == 0) break;
      piece.bytes += frame;
      piece.next_seq = at + 1;
    }
    return piece;
  });
}

}  // namespace heddle::storage
