#include "gui/charts/curve_data.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/charts/curve_axis.h"
#include "gui/charts/curve_bins.h"
#include "gui/charts/curve_smoother.h"

namespace heddle::gui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBlock = 1 << 17;  // steps that are smoothed at a time
constexpr int kPointsAPixel = 2;
/// A curve of no more samples is read whole: it needs no other reading when one zooms.
constexpr size_t kMinPoints = 4096;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void append(Series& series, const storage::Bin& bin, const CurveAxis& axis) {
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

void includeSteps(Range& extent, const std::vector<storage::Bin>& bins, const CurveAxis& axis) {
  if (bins.empty()) return;
  extent.include(axis.at(static_cast<double>(bins.front().first_step)));
  extent.include(axis.at(static_cast<double>(bins.back().last_step)));
}

}  // namespace

void CurveData::goOn(CurveData more) {
  for (const auto& [to, from] : {std::pair(&raw, &more.raw), {&smooth, &more.smooth}}) {
    to->cutAfter(*more.after);
    to->append(*from);
  }
  if (more.extent.valid()) extent.include(more.extent.low), extent.include(more.extent.high);
  complete = complete && more.complete;
  end = std::move(more.end);
  // So long that it is read again in fewer points.
  if (raw.size() > 2 * end.points) end.step = -1;
}

/// A smoothed curve as far as it has been computed.
struct CurveReading::Smoothing {
  CurveData data;
  CurveRun run;
  CurveSmoother smoother;
  int64_t next = 0;  // step to go on from
  int64_t last = 0;  // the last one shown
};

CurveReading::CurveReading(CurveQuery query, std::vector<CurveRun> runs, CurveEnds ends,
                           std::chrono::milliseconds turn)
    : query_(std::move(query)), runs_(std::move(runs)), ends_(std::move(ends)), turn_(turn) {}
CurveReading::~CurveReading() = default;

Result<std::vector<CurveData>> CurveReading::next(storage::Reader& reader) {
  std::vector<CurveData> out;
  const auto until = Clock::now() + turn_;
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
  if (const auto end = ends_.find({run.id, rank}); end != ends_.end() && end->second.step >= 0) {
    const auto went = goOn(reader, rank, end->second, out);
    if (!went) return fail(went);
    if (*went) return {};
  }
  return beginAt(reader, rank, out);
}

/// The steps to be read: so much more on either side of what is shown that a pan has something to
/// show.
storage::StepRange CurveReading::range(const CurveAxis& axis) const {
  if (!query_.shown || !axis.exists()) return {};
  const double beyond = query_.shown->high - query_.shown->low;
  return {stepOf(std::floor(axis.stepAt(query_.shown->low - beyond))),
          stepOf(std::ceil(axis.stepAt(query_.shown->high + beyond)))};
}

void CurveReading::finish(CurveData data, std::vector<CurveData>& out) {
  out.push_back(std::move(data));
  query_.rank == kEachRank ? ++rank_ : ++at_;
}

Result<> CurveReading::beginAt(storage::Reader& reader, int32_t rank, std::vector<CurveData>& out) {
  const CurveRun& run = runs_[at_];
  auto read = CurveAxis::read(reader, run, query_.x, query_.xMetric);
  if (!read) return fail(read);
  const auto axis = std::make_shared<const CurveAxis>(std::move(*read));
  auto points = std::max(kMinPoints, static_cast<size_t>(kPointsAPixel * query_.pixels));
  if (query_.shown && axis->exists()) points *= 3;
  CurveBins found;
  if (axis->exists()) {
    auto bins = readBins(reader, run, query_.metric, rank, range(*axis), points);
    if (!bins) return fail(bins);
    found = std::move(*bins);
  }
  CurveData data{.run = run.id, .rank = rank, .complete = !query_.shown};
  data.end = {.step = found.complete,
              .x = axis->at(static_cast<double>(found.complete)),
              .ranks = found.ranks,
              .axis = axis,
              .points = points};
  for (const storage::Bin& bin : found.bins) {
    append(data.raw, bin, *axis);
    if (bin.count > 1) data.complete = false;
  }
  includeSteps(data.extent, found.bins, *axis);
  if (query_.shown && axis->exists()) {
    const auto all = readBins(reader, run, query_.metric, rank, {}, 1);
    if (!all) return fail(all);
    includeSteps(data.extent, all->bins, *axis);
  }
  if (query_.smoothing <= 0 || found.bins.empty()) {
    finish(std::move(data), out);
    return {};
  }
  const int64_t first = found.bins.front().first_step, last = found.bins.back().last_step;
  const double memory = Ema::kMemory * query_.smoothing;
  data.end.bucket =
      std::max(1.0, (static_cast<double>(last - first) + 1) / static_cast<double>(points));
  data.end.ema = {.half_life = query_.smoothing};
  if (!data.complete) out.push_back(data);
  const CurveSmoother smoother(data.end.ema, {first, data.end.step, data.end.bucket}, *axis);
  smoothing_.reset(new Smoothing{.data = std::move(data),
                                 .run = run,
                                 .smoother = smoother,
                                 .next = stepOf(static_cast<double>(first) - memory),
                                 .last = last});
  // If one rank is the curve, that rank is shown.
  if (telemetry::metric(query_.metric).over_ranks == telemetry::Fold::first)
    smoothing_->run.ranks = found.ranks;
  return {};
}

/// Reads what is new of a curve. False: it has to be read again.
Result<bool> CurveReading::goOn(storage::Reader& reader, int32_t rank, const CurveEnd& end,
                                std::vector<CurveData>& out) {
  const auto others = otherRanksReport(reader, runs_[at_], query_.metric, rank, end.ranks);
  if (!others) return fail(others);
  if (*others) return false;
  CurveRun run = runs_[at_];
  run.ranks = end.ranks;
  auto extended = std::make_shared<CurveAxis>(*end.axis);
  if (const Result<> went = extended->extend(reader, runs_[at_]); !went) return fail(went);
  if (!extended->goesOnFrom(*end.axis)) return false;  // its clock had jumped
  const storage::StepRange shown = range(*extended);
  const auto more =
      readBins(reader, run, query_.metric, rank, {end.step + 1, shown.last}, end.points);
  if (!more) return fail(more);
  CurveData data{.run = run.id, .rank = rank, .after = end.x};
  data.end = end;
  data.end.axis = extended;
  if (more->ranks.size() == end.ranks.size() && more->complete > end.step) {
    data.end.step = more->complete;
    data.end.x = extended->at(static_cast<double>(more->complete));
  }
  for (const storage::Bin& bin : more->bins) {
    append(data.raw, bin, *extended);
    if (bin.count > 1) data.complete = false;
  }
  includeSteps(data.extent, more->bins, *extended);
  if (query_.shown) {
    const auto rest = readBins(reader, run, query_.metric, rank, {end.step + 1}, 1);
    if (!rest) return fail(rest);
    includeSteps(data.extent, rest->bins, *extended);
  }
  if (query_.smoothing <= 0 || more->bins.empty()) {
    finish(std::move(data), out);
    return true;
  }
  const CurveSmoother smoother(end.ema, {end.step + 1, data.end.step, end.bucket}, *extended);
  smoothing_.reset(new Smoothing{.data = std::move(data),
                                 .run = std::move(run),
                                 .smoother = smoother,
                                 .next = end.step + 1,
                                 .last = more->bins.back().last_step});
  return true;
}

Result<> CurveReading::smooth(storage::Reader& reader, std::vector<CurveData>& out) {
  Smoothing& of = *smoothing_;
  const int64_t last = std::min(of.last, of.next + kBlock - 1);
  bool any = false;
  const Result<> read = eachSample(reader, of.run, query_.metric, of.data.rank, {of.next, last},
                                   [&](auto steps, auto values) {
                                     any = true;
                                     of.smoother.take(steps, values);
                                   });
  if (!read) return read;
  of.next = last + 1;
  if (!any && of.next <= of.last) {
    // Steps may be far apart.
    const auto rest = readBins(reader, of.run, query_.metric, of.data.rank, {of.next, of.last}, 1);
    if (!rest) return fail(rest);
    of.next = rest->bins.empty() ? of.last + 1 : rest->bins.front().first_step;
  }
  if (of.next <= of.last) return {};
  of.data.smooth = of.smoother.finish();
  of.data.end.ema = of.smoother.settled();
  finish(std::move(of.data), out);
  smoothing_.reset();
  return {};
}

}  // namespace heddle::gui
