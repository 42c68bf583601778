// Writes step records in columns straight to chunks, pyramid and blocks, without their own rows.
#include <utility>

#include "storage/compaction.h"
#include "storage/ingest.h"
#include "storage/run_rows.h"

namespace heddle::storage {
namespace {

/// The first of `count` ids that no other record of the store has had or will have.
int64_t reserve_ids(Connection& connection, size_t count) {
  {
    Rows rows = connection.query(
        "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'records' RETURNING seq", count);
    if (rows.next()) return rows.integer(0) - static_cast<int64_t>(count) + 1;
  }
  connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('records', ?)", count);
  return 1;
}

/// The metric's samples; empty if the columns do not have it.
std::vector<Sample> samples_of(const StepColumns& columns, std::string_view name) {
  std::vector<Sample> samples;
  for (const auto& metric : columns.metrics) {
    if (metric.name != name) continue;
    for (size_t i = 0; i < metric.rows.size(); ++i)
      samples.push_back({columns.steps[metric.rows[i]], metric.values[i]});
  }
  return samples;
}

/// Adds all series' samples. Returns how many do not follow the samples that the log has.
size_t append_columns(Connection& connection, const LogKey& log, const StepColumns& columns) {
  size_t too_early = 0;
  SampleColumns samples;
  const auto append = [&](const std::string& name, std::span<const int64_t> steps,
                          std::span<const double> values) {
    if (const auto id = series_id(connection, log.run, name))
      append_samples(connection, {*id, log.rank, log.epoch}, steps, values,
                     [&](size_t) { ++too_early; });
  };
  for (const auto& [name, rows, values] : columns.metrics) {
    if (rows.size() == columns.steps.size()) {
      append(name, columns.steps, values);
      continue;
    }
    samples.clear();
    for (const uint32_t row : rows) samples.steps.push_back(columns.steps[row]);
    append(name, samples.steps, values);
  }
  samples.clear();
  for (size_t row = 0; row < columns.times.size(); ++row)
    if (is_known(columns.times[row])) samples.add(columns.steps[row], columns.times[row]);
  append(kTimeSeries, samples.steps, samples.values);
  return too_early;
}

}  // namespace

void Ingestor::add_blocks(const LogKey& log, const StepColumns& columns,
                          const ColumnRecords& records) {
  const int64_t first_id = reserve_ids(connection_, columns.steps.size());
  StepBlocks blocks(connection_, log);
  for (size_t row = 0; row < columns.steps.size(); ++row) {
    const uint64_t seq = columns.first_seq + row;
    blocks.add(first_id + static_cast<int64_t>(row), seq, columns.steps[row],
               records.names[records.sets[row]], digest_of(seq, records.checksums[row]));
  }
  blocks.save();
}

Result<Ingested> Ingestor::append(const LogKey& log, const StepColumns& columns,
                                  const ColumnRecords& records) {
  Result<OpenLog*> open = this->open(log);
  if (!open) return fail(open);
  const uint64_t next_seq = (*open)->next_seq;
  // The rows of the log and its metrics may be new: an error undoes them.
  const auto refuse = [&](std::string message) {
    open_.erase(log);
    metrics_.forget(log.run);
    return tl::unexpected(Error{std::move(message)});
  };
  if (columns.first_seq != next_seq)
    return refuse(fmt::format("found record {} instead of record {}", columns.first_seq, next_seq));
  if (!metrics_.has_room(log.run, columns)) {  // some metrics get no series
    const Result<std::string> frames = frames_of(columns);
    return frames ? append(log, *frames) : fail(frames);
  }
  connection_.set_cache(Connection::Cache::narrow);
  compact(connection_, log);  // records that are still waiting
  metrics_.add(log, columns);
  if (const size_t too_early = append_columns(connection_, log, columns); too_early > 0)
    return refuse(fmt::format("{} samples are not after the log's last ones", too_early));
  add_blocks(log, columns, records);
  const auto count = static_cast<int64_t>(columns.steps.size());
  const uint64_t end = (*open)->reader.end() + records.bytes;
  connection_.execute(
      "UPDATE logs SET offset = ?, next_seq = next_seq + ?, compacted = next_seq + ?, records = "
      "records + ? WHERE run = ? AND rank = ? AND epoch = ?",
      end, count, count, count, log.run, log.rank, log.epoch);
  new_steps_ = {};
  if (log.rank == 0)
    new_steps_ = {columns.steps.back(), samples_of(columns, kLoss),
                  samples_of(columns, kThroughput)};
  update_summary(log);
  metrics_.save(log.run);
  touch(connection_, log.run);
  open_.erase(log);  // its reader is behind now
  return Ingested{.records = count, .acknowledged = end, .next_offset = end};
}

}  // namespace heddle::storage
