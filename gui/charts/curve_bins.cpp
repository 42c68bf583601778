#include "gui/charts/curve_bins.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/telemetry/metrics.h"
#include "storage/chunk.h"

namespace heddle::gui {
namespace {

using Bins = std::vector<storage::Bin>;

/// Folds several ranks' bins into one curve's, as the metric says. Ranks report at the same steps.
Bins folded(std::vector<std::pair<int32_t, storage::Bin>> all, const telemetry::Metric& metric) {
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.second.last_step; });
  Bins bins;
  for (size_t i = 0; i < all.size();) {
    storage::Bin bin = all[i].second;
    telemetry::RankFold min(metric), max(metric), mean(metric), last(metric);
    bin.nonfinite = 0;
    for (; i < all.size() && all[i].second.last_step == bin.last_step; ++i) {
      const auto& [rank, of] = all[i];
      bin.nonfinite = std::max(bin.nonfinite, of.nonfinite);
      min.add(rank, of.min), max.add(rank, of.max), mean.add(rank, of.mean),
          last.add(rank, of.last);
    }
    bin.min = min.value(), bin.max = max.value(), bin.mean = mean.value(), bin.last = last.value();
    bins.push_back(bin);
  }
  return bins;
}

/// Combines the samples of several ranks in the metric's way.
class FoldedSamples {
 public:
  void add(int32_t rank, storage::SampleColumns samples) {
    ranks_.push_back({rank, std::move(samples), 0});
  }
  void give(const telemetry::Metric& metric, const storage::TakeSamples& take) {
    storage::SampleColumns folded;
    for (;;) {
      int64_t step = std::numeric_limits<int64_t>::max();
      for (const Rank& each : ranks_)
        if (each.next < each.samples.size()) step = std::min(step, each.samples.steps[each.next]);
      telemetry::RankFold fold(metric);
      for (Rank& each : ranks_)
        if (each.next < each.samples.size() && each.samples.steps[each.next] == step)
          fold.add(each.rank, each.samples.values[each.next++]);
      if (fold.empty()) break;
      folded.add(step, fold.value());
    }
    if (!folded.empty()) take(folded.steps, folded.values);
  }

 private:
  struct Rank {
    int32_t rank = 0;
    storage::SampleColumns samples;
    size_t next = 0;
  };
  std::vector<Rank> ranks_;
};

/// The first rank that reports the metric is the curve.
bool oneDecides(const CurveRun& run, const telemetry::Metric& metric) {
  return metric.over_ranks == telemetry::Fold::first || run.ranks.size() == 1;
}

CurveBins ofRank(Bins bins, int32_t rank) {
  if (bins.empty()) return {};
  const int64_t last = bins.back().last_step;
  return {std::move(bins), {rank}, last};
}

/// The ranks' bins as they are.
Result<CurveBins> readRanks(storage::Reader& reader, const CurveRun& run,
                            const telemetry::Metric& metric, const std::string& name,
                            storage::StepRange range, size_t points) {
  CurveBins read;
  std::vector<std::pair<int32_t, storage::Bin>> all;
  for (const int32_t each : run.ranks) {
    auto bins = reader.series(run.id, name, each, range, points);
    if (!bins) return fail(bins);
    if (bins->empty()) continue;
    if (oneDecides(run, metric)) return ofRank(std::move(*bins), each);
    const int64_t last = bins->back().last_step;
    read.complete = read.ranks.empty() ? last : std::min(read.complete, last);
    read.ranks.push_back(each);
    for (const storage::Bin& bin : *bins) all.emplace_back(each, bin);
  }
  read.bins = folded(std::move(all), metric);
  return read;
}

}  // namespace

Result<CurveBins> readBins(storage::Reader& reader, const CurveRun& run, const std::string& name,
                           int32_t rank, storage::StepRange range, size_t points) {
  range.last = std::min(range.last, run.last);
  if (range.first > range.last) return CurveBins();
  if (rank != kAllRanks) {
    auto bins = reader.series(run.id, name, rank, range, points);
    if (!bins) return fail(bins);
    return ofRank(std::move(*bins), rank);
  }
  const telemetry::Metric& metric = telemetry::metric(name);
  auto read = readRanks(reader, run, metric, name, range, points);
  if (!read || read->ranks.size() < 2 || read->bins.back().last_step == read->complete) return read;
  if (std::ranges::all_of(read->bins, [](const auto& bin) { return bin.count == 1; })) return read;
  // Some ranks are ahead: bins of unequal numbers of samples would cover different steps.
  auto both = readRanks(reader, run, metric, name, {range.first, read->complete}, points);
  if (!both) return both;
  const auto rest = readRanks(reader, run, metric, name, {read->complete + 1, range.last}, points);
  if (!rest) return fail(rest);
  both->bins.insert(both->bins.end(), rest->bins.begin(), rest->bins.end());
  both->complete = read->complete;
  return both;
}

Result<> eachSample(storage::Reader& reader, const CurveRun& run, const std::string& name,
                    int32_t rank, storage::StepRange range, const storage::TakeSamples& take) {
  range.last = std::min(range.last, run.last);
  if (range.first > range.last) return {};
  if (rank != kAllRanks) return reader.each_sample(run.id, name, rank, range, take);
  const telemetry::Metric& metric = telemetry::metric(name);
  FoldedSamples folded;
  for (const int32_t each : run.ranks) {
    storage::SampleColumns samples;
    bool any = false;
    const Result<> read =
        reader.each_sample(run.id, name, each, range, [&](auto steps, auto values) {
          any = true;
          if (oneDecides(run, metric)) return take(steps, values);
          samples.steps.insert(samples.steps.end(), steps.begin(), steps.end());
          samples.values.insert(samples.values.end(), values.begin(), values.end());
        });
    if (!read) return read;
    if (any && oneDecides(run, metric)) return {};
    folded.add(each, std::move(samples));
  }
  folded.give(metric, take);
  return {};
}

Result<bool> otherRanksReport(storage::Reader& reader, const CurveRun& run,
                              const std::string& metric, int32_t rank,
                              const std::vector<int32_t>& ranks) {
  if (rank != kAllRanks) return false;
  const bool firstDecides = telemetry::metric(metric).over_ranks == telemetry::Fold::first;
  for (const int32_t each : run.ranks) {
    if (firstDecides && each == ranks.front()) break;
    if (std::ranges::find(ranks, each) != ranks.end()) continue;
    const auto any = reader.series(run.id, metric, each, {}, 1);
    if (!any) return fail(any);
    if (!any->empty()) return true;
  }
  return false;
}

}  // namespace heddle::gui
