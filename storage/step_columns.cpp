#include "storage/step_columns.h"

#include <algorithm>
#include <map>

#include "engine/telemetry/frame.h"
#include "engine/telemetry/step_payload.h"
#include "storage/chunk.h"
#include "storage/series.h"
#include "storage/step_block.h"

namespace heddle::storage {
namespace {

using Metrics = std::vector<StepColumns::Metric>;

/// Goes through the records in order.
class RecordWalk {
 public:
  explicit RecordWalk(const StepColumns& columns)
      : columns_(columns), next_(columns.metrics.size()) {
    for (const auto& metric : columns.metrics)
      names_.push_back(telemetry::name_in_step(metric.name));
  }

  /// Replaces `present` by the indices of the record's metrics, and `payload` by its payload.
  void take(uint32_t row, std::vector<uint32_t>& present, std::string& payload) {
    const Metrics& metrics = columns_.metrics;
    present.clear();
    for (uint32_t i = 0; i < metrics.size(); ++i) {
      const auto& rows = metrics[i].rows;
      if (next_[i] < rows.size() && rows[next_[i]] == row) present.push_back(i);
    }
    telemetry::begin_step(payload, columns_.steps[row], columns_.times[row], present.size());
    for (const uint32_t i : present)
      telemetry::add_to_step(payload, names_[i], metrics[i].values[next_[i]++]);
  }

 private:
  const StepColumns& columns_;
  std::vector<size_t> next_;        // by metric: its next value
  std::vector<std::string> names_;  // as in payloads
};

/// Whether a record with a value of every metric is small enough: then each record is.
bool are_small(const StepColumns& columns) {
  std::string payload;
  telemetry::begin_step(payload, kLastStep, 0.1, columns.metrics.size());
  for (const auto& metric : columns.metrics)
    telemetry::add_to_step(payload, telemetry::name_in_step(metric.name), 0.1);
  return telemetry::check_payload(telemetry::Type::step, payload).has_value();
}

Result<> check_steps(const std::vector<int64_t>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] < 0 || steps[i] > kLastStep || (i > 0 && steps[i] <= steps[i - 1]))
      return fail("step {} does not follow step {}; valid: growing steps from 0 to {}", steps[i],
                  i > 0 ? steps[i - 1] : -1, kLastStep);
  return {};
}

/// The names of the present metrics, and the series of times if it has a sample too.
std::vector<std::string> names_of(const Metrics& metrics, const std::vector<uint32_t>& present,
                                  bool has_time) {
  std::vector<std::string> names;
  names.reserve(present.size() + 1);
  for (const uint32_t i : present) names.push_back(metrics[i].name);
  if (has_time) names.insert(std::ranges::lower_bound(names, kTimeSeries), kTimeSeries);
  return names;
}

/// Calls `take` with each record's row, metrics and payload.
template <typename Take>
Result<> each_record(const StepColumns& columns, Take take) {
  if (Result<> grow = check_steps(columns.steps); !grow) return grow;
  const bool small = are_small(columns);
  RecordWalk walk(columns);
  std::vector<uint32_t> present;
  std::string payload;
  for (uint32_t row = 0; row < columns.steps.size(); ++row) {
    walk.take(row, present, payload);
    if (!small)
      if (Result<> fits = telemetry::check_payload(telemetry::Type::step, payload); !fits)
        return fits;
    take(row, present, payload);
  }
  return {};
}

constexpr auto kStepType = static_cast<uint16_t>(telemetry::Type::step);

}  // namespace

bool is_empty(const LogPart& part) {
  const auto* frames = std::get_if<std::string>(&part);
  return frames ? frames->empty() : std::get<StepColumns>(part).steps.empty();
}

Result<ColumnRecords> records_of(const StepColumns& columns) {
  ColumnRecords records;
  records.checksums.reserve(columns.steps.size());
  records.sets.reserve(columns.steps.size());
  std::map<std::pair<std::vector<uint32_t>, bool>, uint32_t> sets;
  std::pair<std::vector<uint32_t>, bool> last;
  const auto set_of = [&](const std::vector<uint32_t>& present, bool has_time) {
    if (!records.sets.empty() && last.second == has_time && last.first == present)
      return records.sets.back();
    last = {present, has_time};
    const auto [found, is_new] =
        sets.try_emplace(last, static_cast<uint32_t>(records.names.size()));
    if (is_new) records.names.push_back(names_of(columns.metrics, present, has_time));
    return found->second;
  };
  const Result<> went =
      each_record(columns, [&](uint32_t row, const auto& present, const std::string& payload) {
        records.checksums.push_back(
            telemetry::header_of(kStepType, columns.first_seq + row, payload).checksum);
        records.bytes += telemetry::kFrameHeaderBytes + payload.size();
        records.sets.push_back(set_of(present, is_known(columns.times[row])));
      });
  if (!went) return fail(went);
  return records;
}

Result<std::string> frames_of(const StepColumns& columns) {
  std::string frames;
  const Result<> went =
      each_record(columns, [&](uint32_t row, const auto&, const std::string& payload) {
        frames += telemetry::frame(kStepType, columns.first_seq + row, payload);
      });
  if (!went) return fail(went);
  return frames;
}

}  // namespace heddle::storage
