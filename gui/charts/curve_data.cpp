#include "gui/charts/curve_data.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "storage/chunk.h"
#include "storage/clock.h"
#include "storage/difference.h"

namespace heddle::gui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTurn = std::chrono::milliseconds(25);
constexpr int64_t kBlock = 1 << 17;   // steps that are smoothed at a time
constexpr size_t kAxisPoints = 4096;  // of tokens or time over steps
constexpr int kPointsAPixel = 2;
/// A curve of no more samples is read whole: it needs no other reading when one zooms.
constexpr size_t kMinPoints = 4096;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Bins = std::vector<storage::Bin>;

/// The bins of several ranks as one's, as the metric says. Ranks report at the same steps.
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

/// `points` 0: every sample.
Result<Bins> readRank(storage::Reader& reader, storage::RunId run, const std::string& name,
                      int32_t rank, storage::StepRange range, size_t points) {
  if (points > 0) return reader.series(run, name, rank, range, points);
  const auto samples = reader.samples(run, name, rank, range);
  if (!samples) return fail(samples);
  Bins bins;
  bins.reserve(samples->size());
  for (const storage::Sample& each : *samples) bins.push_back(storage::bin_of(each));
  return bins;
}

Result<Bins> readBins(storage::Reader& reader, const CurveRun& run, const std::string& name,
                      int32_t rank, storage::StepRange range, size_t points) {
  range.last = std::min(range.last, run.last);
  if (rank != kAllRanks) return readRank(reader, run.id, name, rank, range, points);
  const telemetry::Metric& metric = telemetry::metric(name);
  std::vector<std::pair<int32_t, storage::Bin>> all;
  for (const int32_t each : run.ranks) {
    auto bins = readRank(reader, run.id, name, each, range, points);
    if (!bins) return fail(bins);
    const bool decides = metric.over_ranks == telemetry::Fold::first || run.ranks.size() == 1;
    if (decides && !bins->empty()) return bins;
    for (const storage::Bin& bin : *bins) all.emplace_back(each, bin);
  }
  return folded(std::move(all), metric);
}

/// Unix seconds, by this machine's clock, of the run's first step: its times count from there.
Result<double> readBegin(storage::Reader& reader, const CurveRun& run) {
  const auto first = reader.steps_after(run.id, 0, 1);
  if (!first) return fail(first);
  if (first->empty() || first->front().step.time <= 0) return run.began;
  const auto detail = reader.run(run.id);
  if (!detail) return fail(detail);
  const auto ahead = detail->environment.find(storage::kClockAhead);
  const auto seconds =
      ahead == detail->environment.end() ? std::nullopt : storage::number_of(ahead->second);
  return first->front().step.time - seconds.value_or(0);
}

/// From steps to the chart's x and back: straight lines between known points.
class XAxis {
 public:
  static Result<XAxis> read(storage::Reader& reader, const CurveRun& run, ChartX x) {
    XAxis axis;
    axis.isStep_ = x == ChartX::step;
    if (axis.isStep_) return axis;
    const bool isClock = x == ChartX::clock;
    if (isClock && run.began <= 0) return axis;
    auto bins =
        readBins(reader, run, x == ChartX::tokens ? "tokens" : "time", kAllRanks, {}, kAxisPoints);
    if (!bins) return fail(bins);
    const auto began = isClock ? readBegin(reader, run) : Result<double>(0);
    if (!began) return fail(began);
    for (const storage::Bin& bin : *bins)
      axis.add(static_cast<double>(bin.last_step), bin.last + *began);
    return axis;
  }

  /// NaN: the run has no such x.
  double at(double step) const { return isStep_ ? step : between(steps_, x_, step); }
  double stepAt(double x) const { return isStep_ ? x : between(x_, steps_, x); }
  bool exists() const { return isStep_ || !steps_.empty(); }

 private:
  /// A clock may jump back: x that does not grow is left out.
  void add(double step, double x) {
    if (!std::isfinite(x) || (!x_.empty() && (x <= x_.back() || step <= steps_.back()))) return;
    steps_.push_back(step);
    x_.push_back(x);
  }

  static double between(const std::vector<double>& from, const std::vector<double>& to, double at) {
    if (from.empty()) return kNone;
    if (from.size() == 1) return to.front();
    const auto above = std::upper_bound(from.begin() + 1, from.end() - 1, at) - from.begin();
    const auto i = static_cast<size_t>(above);
    const double share = (at - from[i - 1]) / (from[i] - from[i - 1]);
    return to[i - 1] + share * (to[i] - to[i - 1]);
  }

  bool isStep_ = true;
  std::vector<double> steps_, x_;
};

void append(Series& series, const storage::Bin& bin, const XAxis& axis) {
  const auto x = [&](int64_t step) { return axis.at(static_cast<double>(step)); };
  const bool mixed = bin.nonfinite > 0 && bin.nonfinite < bin.count;
  // Its place in the bin is unknown: it is marked at the end where the last sample is not.
  if (mixed && std::isfinite(bin.last)) series.append(x(bin.first_step), kNone);
  if (mixed && !std::isfinite(bin.last))
    series.append(x(bin.first_step), bin.mean, bin.min, bin.max);
  const bool single = bin.count <= 1 || !std::isfinite(bin.last);
  if (single)
    series.append(x(bin.last_step), bin.last);
  else
    series.append(x(bin.last_step), bin.mean, bin.min, bin.max);
}

int64_t stepOf(double step) {
  constexpr double kFar = 9e15;
  return static_cast<int64_t>(std::clamp(step, 0.0, kFar));
}

}  // namespace

/// A smoothed curve as far as it has been computed.
struct CurveReading::Smoothing {
  CurveData data;
  XAxis axis;
  Ema ema;
  int64_t next = 0;   // step to go on from
  int64_t from = 0;   // the first step shown
  int64_t last = 0;   // and the last
  double bucket = 1;  // steps for which one point is kept
  double inBucket = -1;

  void take(const storage::Bin& sample) {
    const double step = static_cast<double>(sample.last_step);
    const double value = ema.next(step, sample.last);
    if (sample.last_step < from) return;
    const double x = axis.at(step);
    const double number = std::floor(step / bucket);
    Series& curve = data.smooth;
    if (number == inBucket && std::isfinite(value) && !curve.empty())
      curve.replaceLast(x, value);
    else if (std::isfinite(value) || number != inBucket)
      curve.append(x, value);
    inBucket = number;
  }
};

CurveReading::CurveReading(CurveQuery query, std::vector<CurveRun> runs)
    : query_(std::move(query)), runs_(std::move(runs)) {}
CurveReading::~CurveReading() = default;

Result<std::vector<CurveData>> CurveReading::next(storage::Reader& reader) {
  std::vector<CurveData> out;
  const auto until = Clock::now() + kTurn;
  do {
    if (done()) break;
    const Result<> went = smoothing_ ? smooth(reader, out) : begin(reader, out);
    if (!went) return fail(went);
  } while (Clock::now() < until);
  return out;
}

Result<> CurveReading::begin(storage::Reader& reader, std::vector<CurveData>& out) {
  const CurveRun& run = runs_[at_];
  const bool each = query_.rank == kEachRank;
  if (each && rank_ >= run.ranks.size()) {
    ++at_;
    rank_ = 0;
    return {};
  }
  const int32_t rank = each ? run.ranks[rank_] : query_.rank;
  auto axis = XAxis::read(reader, run, query_.x);
  if (!axis) return fail(axis);
  CurveData data{.run = run.id, .rank = rank};

  storage::StepRange range;
  auto points = std::max(kMinPoints, static_cast<size_t>(kPointsAPixel * query_.pixels));
  if (query_.shown && axis->exists()) {
    // So much more on either side that a pan has something to show.
    const double beyond = query_.shown->high - query_.shown->low;
    range = {stepOf(std::floor(axis->stepAt(query_.shown->low - beyond))),
             stepOf(std::ceil(axis->stepAt(query_.shown->high + beyond)))};
    points *= 3;
  }
  auto bins = axis->exists() ? readBins(reader, run, query_.metric, rank, range, points) : Bins();
  if (!bins) return fail(bins);
  data.complete = !query_.shown;
  for (const storage::Bin& bin : *bins) {
    append(data.raw, bin, *axis);
    if (bin.count > 1) data.complete = false;
  }
  if (!bins->empty()) {
    data.extent.include(axis->at(static_cast<double>(bins->front().first_step)));
    data.extent.include(axis->at(static_cast<double>(bins->back().last_step)));
  }
  if (query_.shown && axis->exists()) {
    auto all = readBins(reader, run, query_.metric, rank, {}, 1);
    if (!all) return fail(all);
    for (const storage::Bin& bin : *all) {
      data.extent.include(axis->at(static_cast<double>(bin.first_step)));
      data.extent.include(axis->at(static_cast<double>(bin.last_step)));
    }
  }
  if (query_.smoothing > 0 && !bins->empty()) {
    const int64_t first = bins->front().first_step, last = bins->back().last_step;
    const double memory = Ema::kMemory * query_.smoothing;
    smoothing_.reset(new Smoothing{.data = std::move(data),
                                   .axis = std::move(*axis),
                                   .ema = {.halfLife = query_.smoothing},
                                   .next = stepOf(static_cast<double>(first) - memory),
                                   .from = first,
                                   .last = last});
    const auto width = static_cast<double>(last - first) + 1;
    smoothing_->bucket = std::max(1.0, width / static_cast<double>(points));
    if (!smoothing_->data.complete) out.push_back(smoothing_->data);
    return {};
  }
  out.push_back(std::move(data));
  each ? ++rank_ : ++at_;
  return {};
}

Result<> CurveReading::smooth(storage::Reader& reader, std::vector<CurveData>& out) {
  Smoothing& of = *smoothing_;
  const int64_t last = std::min(of.last, of.next + kBlock - 1);
  auto samples = readBins(reader, runs_[at_], query_.metric, of.data.rank, {of.next, last}, 0);
  if (!samples) return fail(samples);
  for (const storage::Bin& sample : *samples) of.take(sample);
  of.next = last + 1;
  if (samples->empty() && of.next <= of.last) {
    // Steps may be far apart.
    auto rest = readBins(reader, runs_[at_], query_.metric, of.data.rank, {of.next, of.last}, 1);
    if (!rest) return fail(rest);
    of.next = rest->empty() ? of.last + 1 : rest->front().first_step;
  }
  if (of.next <= of.last) return {};
  out.push_back(std::move(of.data));
  smoothing_.reset();
  query_.rank == kEachRank ? ++rank_ : ++at_;
  return {};
}

}  // namespace heddle::gui
