#include "storage/step_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/series.h"
#include "storage/step_block.h"

namespace heddle::storage {
namespace {

/// Step records that are in no block.
std::vector<StepRow> loose_steps(Connection& connection, RunId run, int64_t after_id,
                                 size_t limit) {
  std::vector<StepRow> steps;
  Rows rows = connection.query(
      "SELECT id, rank, epoch, payload FROM records WHERE run = ? AND type = 2 AND id > ? "
      "ORDER BY id LIMIT ?",
      run, after_id, limit);
  while (rows.next()) {
    auto record = telemetry::decode(telemetry::Type::step, rows.blob(3));
    if (record)
      steps.push_back({rows.integer(0), static_cast<int32_t>(rows.integer(1)),
                       static_cast<int32_t>(rows.integer(2)),
                       std::move(std::get<telemetry::Step>(*record))});
  }
  return steps;
}

struct BlockPlace {
  int64_t row = 0;
  int64_t first_id = 0;
};

/// Blocks that have records after `after_id`, by their first ones.
std::vector<BlockPlace> blocks_after(Connection& connection, RunId run, int64_t after_id) {
  std::vector<BlockPlace> places;
  Rows rows = connection.query(
      "SELECT rowid, first_id FROM step_blocks WHERE run = ? AND last_id > ?", run, after_id);
  while (rows.next()) places.push_back({rows.integer(0), rows.integer(1)});
  std::ranges::sort(places, {}, &BlockPlace::first_id);
  return places;
}

/// A block with the entries that are wanted of it.
struct Wanted {
  LogKey log;
  StepBlock block;
  std::vector<StepRow> steps;  // their values are read last
};

std::optional<Wanted> block_at(Connection& connection, RunId run, int64_t row) {
  Rows rows = connection.query("SELECT rank, epoch, data FROM step_blocks WHERE rowid = ?", row);
  if (!rows.next()) return std::nullopt;
  std::optional<StepBlock> block = unpack_block(rows.blob(2));
  if (!block) return std::nullopt;
  return Wanted{{run, static_cast<int32_t>(rows.integer(0)), static_cast<int32_t>(rows.integer(1))},
                std::move(*block),
                {}};
}

/// The first `limit` entries after `after_id`.
std::vector<Wanted> wanted_entries(Connection& connection, RunId run, int64_t after_id,
                                   size_t limit) {
  std::vector<Wanted> blocks;
  std::vector<int64_t> ids;  // of all blocks read
  for (const BlockPlace& place : blocks_after(connection, run, after_id)) {
    if (ids.size() >= limit) {
      std::ranges::nth_element(ids, ids.begin() + static_cast<std::ptrdiff_t>(limit) - 1);
      if (ids[limit - 1] < place.first_id) break;
    }
    std::optional<Wanted> wanted = block_at(connection, run, place.row);
    if (!wanted) continue;
    for (const StepBlock::Entry& entry : wanted->block.entries)
      if (entry.id > after_id) ids.push_back(entry.id);
    blocks.push_back(std::move(*wanted));
  }
  int64_t last = std::numeric_limits<int64_t>::max();
  if (limit > 0 && ids.size() > limit) {
    std::ranges::nth_element(ids, ids.begin() + static_cast<std::ptrdiff_t>(limit) - 1);
    last = ids[limit - 1];
  }
  for (Wanted& wanted : blocks) {
    std::erase_if(wanted.block.entries, [&](const StepBlock::Entry& entry) {
      return entry.id <= after_id || entry.id > last;
    });
    for (const StepBlock::Entry& entry : wanted.block.entries)
      wanted.steps.push_back({entry.id, wanted.log.rank, wanted.log.epoch, {entry.step, 0, {}}});
  }
  return blocks;
}

/// Fills in the values of one series.
void add_values(Connection& connection, Wanted& wanted, size_t name, StepRange range) {
  const std::string& of = wanted.block.names[name];
  const auto series = series_id(connection, wanted.log.run, of);
  if (!series) return;
  const SampleColumns samples =
      chunked_samples(connection, {*series, wanted.log.rank, wanted.log.epoch}, range);
  for (size_t i = 0; i < wanted.steps.size(); ++i) {
    if (!std::ranges::binary_search(wanted.block.sets[wanted.block.entries[i].set], name)) continue;
    telemetry::Step& step = wanted.steps[i].step;
    const auto found = std::ranges::lower_bound(samples.steps, step.step);
    if (found == samples.steps.end() || *found != step.step) continue;
    const double value = samples.values[static_cast<size_t>(found - samples.steps.begin())];
    if (of == kTimeSeries)
      step.time = value;
    else
      step.values.emplace_hint(step.values.end(), of, value);
  }
}

void add_values(Connection& connection, Wanted& wanted) {
  if (wanted.steps.empty()) return;
  const auto [first, last] = std::ranges::minmax(wanted.block.entries, {}, &StepBlock::Entry::step);
  const StepRange range{first.step, last.step};
  std::vector<bool> used(wanted.block.names.size());
  for (const StepBlock::Entry& entry : wanted.block.entries)
    for (const uint64_t name : wanted.block.sets[entry.set]) used[name] = true;
  for (auto& set : wanted.block.sets) std::ranges::sort(set);
  for (size_t name = 0; name < used.size(); ++name)
    if (used[name]) add_values(connection, wanted, name, range);
}

void keep_newest(std::vector<StepRow>& steps, size_t most) {
  std::ranges::sort(steps, {}, &StepRow::id);
  if (steps.size() > most)
    steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(most));
}

/// At most `most` of a log, in the order in which they came in. Newer ones than any in a block may
/// be loose, and older ones that no block can hold.
std::vector<StepRow> newest_of_log(Connection& connection, const LogKey& log, size_t most) {
  std::vector<StepRow> steps;
  {
    Rows rows = connection.query(
        "SELECT id, payload FROM records WHERE run = ? AND rank = ? AND epoch = ? AND type = 2 "
        "ORDER BY seq DESC LIMIT ?",
        log.run, log.rank, log.epoch, most);
    while (rows.next()) {
      auto record = telemetry::decode(telemetry::Type::step, rows.blob(1));
      if (record)
        steps.push_back(
            {rows.integer(0), log.rank, log.epoch, std::move(std::get<telemetry::Step>(*record))});
    }
  }
  std::vector<int64_t> places;
  {
    Rows rows = connection.query(
        "SELECT rowid FROM step_blocks WHERE run = ? AND rank = ? AND epoch = ? ORDER BY first_seq "
        "DESC LIMIT ?",
        log.run, log.rank, log.epoch, 2 + most / kBlockSteps);
    while (rows.next()) places.push_back(rows.integer(0));
  }
  size_t packed = 0;
  for (const int64_t place : places) {
    if (packed >= most) break;
    std::optional<Wanted> wanted = block_at(connection, log.run, place);
    if (!wanted) continue;
    auto& entries = wanted->block.entries;
    if (const size_t room = most - packed; entries.size() > room)
      entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(room));
    packed += entries.size();
    for (const StepBlock::Entry& entry : entries)
      wanted->steps.push_back({entry.id, log.rank, log.epoch, {entry.step, 0, {}}});
    add_values(connection, *wanted);
    std::ranges::move(wanted->steps, std::back_inserter(steps));
  }
  keep_newest(steps, most);
  return steps;
}

}  // namespace

std::vector<StepRow> read_newest_steps(Connection& connection, RunId run, size_t of_a_rank) {
  std::vector<LogKey> logs;
  {
    Rows rows = connection.query(
        "SELECT rank, epoch FROM logs WHERE run = ? AND rank >= 0 ORDER BY rank, epoch DESC", run);
    while (rows.next())
      logs.push_back(
          {run, static_cast<int32_t>(rows.integer(0)), static_cast<int32_t>(rows.integer(1))});
  }
  std::vector<StepRow> steps;
  size_t found = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    // The newest attempt first: it may have only begun.
    if (i == 0 || logs[i].rank != logs[i - 1].rank) found = 0;
    if (found >= of_a_rank) continue;
    std::vector<StepRow> some = newest_of_log(connection, logs[i], of_a_rank - found);
    found += some.size();
    std::ranges::move(some, std::back_inserter(steps));
  }
  std::ranges::sort(steps, {}, &StepRow::id);
  return steps;
}

std::vector<StepRow> read_steps(Connection& connection, RunId run, int64_t after_id, size_t limit) {
  std::vector<StepRow> steps = loose_steps(connection, run, after_id, limit);
  std::vector<Wanted> blocks = wanted_entries(connection, run, after_id, limit);
  const size_t loose = steps.size();
  for (Wanted& wanted : blocks) {
    add_values(connection, wanted);
    std::ranges::move(wanted.steps, std::back_inserter(steps));
  }
  if (steps.size() == loose) return steps;
  std::ranges::sort(steps, {}, &StepRow::id);
  if (steps.size() > limit) steps.resize(limit);
  return steps;
}

std::vector<PackedStep> read_packed_steps(Connection& connection, const LogKey& log, uint64_t seq,
                                          size_t limit) {
  std::vector<int64_t> places;
  {
    Rows rows = connection.query(
        "SELECT rowid FROM step_blocks WHERE run = ? AND rank = ? AND epoch = ? AND last_seq >= ? "
        "ORDER BY first_seq LIMIT ?",
        log.run, log.rank, log.epoch, seq, 1 + limit / kBlockSteps);
    while (rows.next()) places.push_back(rows.integer(0));
  }
  std::vector<PackedStep> steps;
  for (const int64_t place : places) {
    std::optional<Wanted> wanted = block_at(connection, log.run, place);
    if (!wanted) continue;
    auto& entries = wanted->block.entries;
    std::erase_if(entries, [&](const StepBlock::Entry& entry) { return entry.seq < seq; });
    if (entries.size() > limit - steps.size()) entries.resize(limit - steps.size());
    for (const StepBlock::Entry& entry : entries)
      wanted->steps.push_back({entry.id, log.rank, log.epoch, {entry.step, 0, {}}});
    add_values(connection, *wanted);
    for (size_t i = 0; i < entries.size(); ++i)
      steps.push_back({entries[i].seq, std::move(wanted->steps[i].step)});
  }
  return steps;
}

}  // namespace heddle::storage
