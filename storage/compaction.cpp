#include "storage/compaction.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "storage/chunk.h"
#include "storage/step_block.h"

namespace heddle::storage {
namespace {

/// So many values are compacted at once.
constexpr size_t kValuesAtOnce = size_t{1} << 17;

/// A level's last chunk, which may have room.
template <typename Items>
struct OpenChunk {
  int64_t first_index = 0;
  Items items;
};

/// Calls `take` with the last chunk's first index and its bytes, if there is a chunk.
template <typename Take>
void last_chunk(Connection& connection, const SeriesLog& at, int64_t level, Take take) {
  Rows rows = connection.query(
      "SELECT first_index, data FROM chunks WHERE series = ? AND rank = ? AND epoch = ? AND level "
      "= ? "
      "ORDER BY first_step DESC LIMIT 1",
      at.series, at.rank, at.epoch, level);
  if (rows.next()) take(rows.integer(0), rows.blob(1));
}

void store(Connection& connection, const SeriesLog& at, int64_t level, int64_t first_step,
           int64_t first_index, size_t count, std::string_view data) {
  connection.execute(
      "INSERT OR REPLACE INTO chunks (series, rank, epoch, level, first_step, first_index, count, "
      "data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      at.series, at.rank, at.epoch, level, first_step, first_index, count, Blob{data});
}

void store(Connection& connection, const SeriesLog& at, int64_t level,
           const OpenChunk<std::vector<Bin>>& chunk) {
  store(connection, at, level, chunk.items.front().first_step, chunk.first_index,
        chunk.items.size(), pack(chunk.items, level));
}

void store(Connection& connection, const SeriesLog& at, const OpenChunk<SampleColumns>& chunk) {
  const auto& [steps, values] = chunk.items;
  store(connection, at, 0, steps.front(), chunk.first_index, steps.size(), pack(steps, values));
}

void append_bins(Connection& connection, const SeriesLog& at, int64_t level,
                 const std::vector<Bin>& bins) {
  OpenChunk<std::vector<Bin>> chunk;
  last_chunk(connection, at, level, [&](int64_t first_index, std::string_view data) {
    chunk = {first_index, unpack(data, level)};
  });
  std::vector<Bin> above;
  bool changed = false;
  for (const Bin& bin : bins) {
    if (!chunk.items.empty() && bin.first_step <= chunk.items.back().last_step) continue;
    if (chunk.items.size() == kChunkBins) {
      if (changed) store(connection, at, level, chunk);
      chunk.first_index += static_cast<int64_t>(kChunkBins);
      chunk.items.clear();
    }
    chunk.items.push_back(bin);
    changed = true;
    if (chunk.items.size() % kFanOut == 0)
      above.push_back(merged(std::span(chunk.items).last(kFanOut)));
  }
  if (changed) store(connection, at, level, chunk);
  if (!above.empty()) append_bins(connection, at, level + 1, above);
}

/// A step record with its row.
struct WaitingStep {
  int64_t id = 0;
  uint64_t seq = 0;
  uint64_t checksum = 0;
  std::string payload;
  telemetry::Step step;
  bool whole = false;  // chunks have all of it
};

/// The next records of the log from `seq` on, some values at once; nothing at its end.
std::vector<WaitingStep> next_records(Connection& connection, const LogKey& log, int64_t seq) {
  std::vector<WaitingStep> all;
  Rows rows = connection.query(
      "SELECT id, seq, checksum, payload FROM records WHERE run = ? AND rank = ? AND epoch = ? AND "
      "seq >= ? AND type = 2 ORDER BY seq",
      log.run, log.rank, log.epoch, seq);
  for (size_t values = 0; values < kValuesAtOnce && rows.next();) {
    WaitingStep& waiting = all.emplace_back(WaitingStep{rows.integer(0),
                                                        static_cast<uint64_t>(rows.integer(1)),
                                                        static_cast<uint64_t>(rows.integer(2)),
                                                        {},
                                                        {},
                                                        false});
    auto record = telemetry::decode(telemetry::Type::step, rows.blob(3));
    waiting.payload = rows.blob(3);
    ++values;
    if (!record) continue;
    waiting.step = std::move(std::get<telemetry::Step>(*record));
    waiting.whole = is_charted(waiting.step) && !waiting.step.values.contains(kTimeSeries);
    values += waiting.step.values.size();
  }
  return all;
}

/// Whether the record as it came can be made again from what it says.
bool says_all(const WaitingStep& waiting) {
  const Result<std::string> frame = telemetry::encode(waiting.step, waiting.seq);
  return frame && std::string_view(*frame).substr(telemetry::kFrameHeaderBytes) == waiting.payload;
}

/// The samples of one series, and which records they are of.
struct NewSamples {
  SampleColumns items;
  std::vector<size_t> records;
};

void append_values(Connection& connection, const LogKey& log, std::vector<WaitingStep>& records) {
  std::map<std::string, NewSamples> series;
  for (size_t i = 0; i < records.size(); ++i) {
    const telemetry::Step& step = records[i].step;
    if (!is_charted(step)) continue;
    const auto put = [&](const std::string& name, double value) {
      NewSamples& samples = series[name];
      samples.items.add(step.step, value);
      samples.records.push_back(i);
    };
    for (const auto& [name, value] : step.values)
      if (name != kTimeSeries) put(name, value);
    if (has_time(step)) put(kTimeSeries, step.time);
  }
  for (const auto& [name, samples] : series) {
    const auto left_out = [&](size_t i) { records[samples.records[i]].whole = false; };
    if (const auto id = series_id(connection, log.run, name))
      append_samples(connection, {*id, log.rank, log.epoch}, samples.items.steps,
                     samples.items.values, left_out);
    else
      for (size_t i = 0; i < samples.records.size(); ++i) left_out(i);
  }
}

/// The log's last block, where it has room.
std::optional<StepBlock> last_block(Connection& connection, const LogKey& log) {
  Rows rows = connection.query(
      "SELECT data, digest, count FROM step_blocks WHERE run = ? AND rank = ? AND epoch = ? ORDER "
      "BY first_seq DESC LIMIT 1",
      log.run, log.rank, log.epoch);
  if (!rows.next() || rows.integer(2) >= static_cast<int64_t>(kBlockSteps)) return std::nullopt;
  std::optional<StepBlock> block = unpack_block(rows.blob(0));
  if (block) block->digest = static_cast<uint64_t>(rows.integer(1));
  return block;
}

/// Moves records that chunks have the whole of.
void move_to_blocks(Connection& connection, const LogKey& log,
                    const std::vector<WaitingStep>& records) {
  StepBlocks blocks(connection, log);
  for (const WaitingStep& waiting : records) {
    if (!waiting.whole || !says_all(waiting)) continue;
    std::vector<std::string> names;
    names.reserve(waiting.step.values.size() + 1);
    for (const auto& [name, value] : waiting.step.values) names.push_back(name);
    if (has_time(waiting.step))
      names.insert(std::ranges::lower_bound(names, kTimeSeries), kTimeSeries);
    blocks.add(waiting.id, waiting.seq, waiting.step.step, names,
               digest_of(waiting.seq, waiting.checksum));
    connection.execute("DELETE FROM records WHERE id = ?", waiting.id);
  }
  blocks.save();
}

}  // namespace

void append_samples(Connection& connection, const SeriesLog& at, std::span<const int64_t> steps,
                    std::span<const double> values, const std::function<void(size_t)>& left_out) {
  OpenChunk<SampleColumns> chunk;
  last_chunk(connection, at, 0, [&](int64_t first_index, std::string_view data) {
    chunk.first_index = first_index;
    unpack(data, chunk.items);
  });
  std::vector<Bin> above;
  bool changed = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!chunk.items.empty() && steps[i] <= chunk.items.steps.back()) {
      left_out(i);
      continue;
    }
    if (chunk.items.size() == kChunkSamples) {
      if (changed) store(connection, at, chunk);
      chunk.first_index += static_cast<int64_t>(kChunkSamples);
      chunk.items.clear();
    }
    chunk.items.add(steps[i], values[i]);
    changed = true;
    if (chunk.items.size() % kFanOut == 0)
      above.push_back(merged(std::span<const int64_t>(chunk.items.steps).last(kFanOut),
                             std::span<const double>(chunk.items.values).last(kFanOut)));
  }
  if (changed) store(connection, at, chunk);
  if (!above.empty()) append_bins(connection, at, 1, above);
}

StepBlocks::StepBlocks(Connection& connection, const LogKey& log)
    : connection_(connection), log_(log) {
  if (auto block = last_block(connection, log)) maker_ = StepBlockMaker(std::move(*block));
}

void StepBlocks::add(int64_t id, uint64_t seq, int64_t step, const std::vector<std::string>& names,
                     uint64_t digest) {
  if (maker_.is_full()) {
    save();
    maker_ = StepBlockMaker();
  }
  maker_.add(id, seq, step, names, digest);
  changed_ = true;
}

void StepBlocks::save() {
  if (!std::exchange(changed_, false)) return;
  const StepBlock& block = maker_.block();
  const auto [first, last] = std::ranges::minmax(block.entries, {}, &StepBlock::Entry::id);
  connection_.execute(
      "INSERT OR REPLACE INTO step_blocks (run, rank, epoch, first_seq, last_seq, first_id, "
      "last_id, count, digest, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      log_.run, log_.rank, log_.epoch, block.entries.front().seq, block.entries.back().seq,
      first.id, last.id, block.entries.size(), static_cast<int64_t>(block.digest),
      Blob{pack(block)});
}

void compact(Connection& connection, const LogKey& log) {
  int64_t compacted = 0;
  int64_t next_seq = 0;
  {
    Rows rows = connection.query(
        "SELECT compacted, next_seq FROM logs WHERE run = ? AND rank = ? AND epoch = ?", log.run,
        log.rank, log.epoch);
    if (!rows.next()) return;
    compacted = rows.integer(0);
    next_seq = rows.integer(1);
  }
  while (compacted < next_seq) {
    std::vector<WaitingStep> records = next_records(connection, log, compacted);
    if (records.empty()) break;
    append_values(connection, log, records);
    move_to_blocks(connection, log, records);
    compacted = static_cast<int64_t>(records.back().seq) + 1;
  }
  connection.execute(
      "UPDATE logs SET compacted = ?, pending = 0 WHERE run = ? AND rank = ? AND epoch = ?",
      next_seq, log.run, log.rank, log.epoch);
}

bool is_in_block(Connection& connection, const LogKey& log, uint64_t seq) {
  Rows rows = connection.query(
      "SELECT data FROM step_blocks WHERE run = ? AND rank = ? AND epoch = ? AND first_seq <= ? "
      "ORDER BY first_seq DESC LIMIT 1",
      log.run, log.rank, log.epoch, seq);
  if (!rows.next()) return false;
  const std::optional<StepBlock> block = unpack_block(rows.blob(0));
  return block && std::ranges::any_of(block->entries, [&](const StepBlock::Entry& entry) {
           return entry.seq == seq;
         });
}

void compact_all(Connection& connection) {
  std::vector<LogKey> logs;
  {
    Rows rows = connection.query("SELECT run, rank, epoch FROM logs WHERE rank >= 0 ORDER BY run");
    while (rows.next())
      logs.push_back({rows.integer(0), static_cast<int32_t>(rows.integer(1)),
                      static_cast<int32_t>(rows.integer(2))});
  }
  connection.execute("DELETE FROM chunks");
  connection.execute("UPDATE logs SET compacted = 0");
  connection.execute("INSERT OR IGNORE INTO series (run, name) SELECT DISTINCT run, ? FROM series",
                     kTimeSeries);
  for (const LogKey& log : logs) compact(connection, log);
}

}  // namespace heddle::storage
