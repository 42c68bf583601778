#include "workbench/metric_tails.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace heddle::workbench {
namespace {

using storage::MetricSummary;
using storage::RunId;
using storage::Sample;

constexpr size_t kMaxKnown = 16;  // columns that are kept

/// Whether the run has got no sample since.
bool is_unchanged(const MetricSummary& a, const MetricSummary& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  };
  return a.count == b.count && a.nonfinite == b.nonfinite && a.last_step == b.last_step &&
         same(a.last, b.last) && same(a.min, b.min) && same(a.max, b.max) && same(a.mean, b.mean);
}

/// The run's last samples, at least `count` unless it has fewer.
Result<std::vector<Sample>> read_end(storage::Reader& reader, RunId run, const std::string& metric,
                                     int32_t rank, const MetricSummary& whole, int64_t count) {
  // A metric that is not in each step has its samples farther apart.
  for (int64_t steps = count;; steps *= 4) {
    const int64_t first = std::max<int64_t>(0, whole.last_step - steps + 1);
    auto samples = reader.samples(run, metric, rank, {first, whole.last_step});
    if (!samples || first == 0 || static_cast<int64_t>(samples->size()) >= count) return samples;
  }
}

Result<MetricSummary> read_tail(storage::Reader& reader, RunId run, const std::string& metric,
                                const MetricSummary& whole, int64_t count) {
  if (whole.count <= count) return whole;
  auto samples = read_end(reader, run, metric, 0, whole, count);
  if (!samples) return fail(samples);
  if (samples->empty()) {
    // A summary is of the lowest rank that has the metric.
    const auto detail = reader.run(run);
    if (!detail) return fail(detail);
    for (const int32_t rank : detail->ranks) {
      if (!samples->empty()) break;
      samples = read_end(reader, run, metric, rank, whole, count);
      if (!samples) return fail(samples);
    }
  }
  MetricSummary tail;
  const size_t taken = std::min(samples->size(), static_cast<size_t>(count));
  for (size_t i = samples->size() - taken; i < samples->size(); ++i)
    storage::add(tail, (*samples)[i].step, (*samples)[i].value);
  return tail;
}

}  // namespace

Result<MetricTails::Summaries> MetricTails::read(storage::Reader& reader, const std::string& metric,
                                                 int64_t count) {
  const auto wholes = reader.metric_summaries(metric);
  if (!wholes) return fail(wholes);
  const std::pair key{metric, count};
  if (known_.size() >= kMaxKnown && !known_.contains(key)) known_.clear();
  std::map<RunId, Tail>& known = known_[key];
  std::erase_if(known, [&](const auto& one) { return !wholes->contains(one.first); });
  Summaries summaries;
  for (const auto& [run, whole] : *wholes) {
    Tail& tail = known[run];
    if (tail.last.count == 0 || !is_unchanged(tail.whole, whole)) {
      const auto read = read_tail(reader, run, metric, whole, count);
      if (!read) return fail(read);
      tail = {whole, *read};
    }
    summaries.emplace_hint(summaries.end(), run, tail.last);
  }
  return summaries;
}

}  // namespace heddle::workbench
