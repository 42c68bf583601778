#include "gui/charts/metric_chart.h"

#include <QTimer>
#include <algorithm>
#include <set>

#include "engine/telemetry/metrics.h"
#include "gui/charts/curve_axis.h"
#include "gui/charts/curve_sums.h"
#include "gui/format.h"
#include "gui/session.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

QString titleOf(const ChartSpec& spec) {
  QString words = QString::fromStdString(telemetry::words_of(spec.metric));
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

}  // namespace

MetricChart::MetricChart(Session& session, ChartSpec spec, QWidget* parent)
    : LineChart(titleOf(spec), telemetry::metric(spec.metric).unit, parent),
      session_(session),
      spec_(std::move(spec)),
      job_(session.readingThread(), this) {
  describe();
  connect(this, &LineChart::shownChanged, this, &MetricChart::readAgain);
  connect(&Theme::instance(), &Theme::changed, this, &MetricChart::putCurves);
}

/// Everything of the spec but its curves.
void MetricChart::describe() {
  const telemetry::Metric& metric = telemetry::metric(spec_.metric);
  setAccessibleName(spec_.difference ? tr("%1, difference").arg(title()) : title());
  setWarmUp(metric.unit == Unit::tokens_per_second ? telemetry::kWarmUpSteps : 0);
  setLog(spec_.logX && spec_.x != ChartX::clock, spec_.logY && !spec_.difference);
  setLimits(spec_.limits);
  setIgnoresOutliers(spec_.ignoresOutliers);
  switch (spec_.x) {
    case ChartX::step:
      setXAxis(tr("step"), Unit::count);
      break;
    case ChartX::tokens:
      setXAxis(tr("tokens"), Unit::tokens);
      break;
    case ChartX::time:
      setXAxis(tr("time"), Unit::seconds);
      break;
    case ChartX::clock:
      setXAxis(tr("time of day"), Unit::seconds, true);
      break;
    case ChartX::metric:
      setXAxis(QString::fromStdString(telemetry::words_of(spec_.xMetric)),
               telemetry::metric(spec_.xMetric).unit);
      break;
  }
}

/// How the ranks' values became the curve's.
QString MetricChart::ranksText() const {
  if (spec_.rank == kEachRank) return tr("each rank");
  if (spec_.rank >= 0) return tr("rank %1").arg(spec_.rank);
  const telemetry::Metric& metric = telemetry::metric(spec_.metric);
  switch (metric.over_ranks) {
    case telemetry::Fold::mean:
      return metric.unit == Unit::tokens_per_second ? tr("a rank") : tr("mean of the ranks");
    case telemetry::Fold::most:
      return tr("highest rank");
    case telemetry::Fold::first:
      break;
  }
  return {};
}

void MetricChart::setSpec(ChartSpec spec) {
  if (spec == spec_) return;
  const bool otherX = spec.x != spec_.x || spec.xMetric != spec_.xMetric;
  spec_ = std::move(spec);
  if (otherX) showAll();
  describe();
  putCurves();
  readAgain();
  Q_EMIT specChanged();
}

void MetricChart::setRuns(std::vector<BoardRun> runs) {
  runs_ = std::move(runs);
  std::erase_if(curves_, [this](const auto& curve) {
    return std::ranges::find(runs_, curve.first.first, &BoardRun::id) == runs_.end();
  });
  std::erase_if(known_, [this](const auto& known) {
    return std::ranges::find(runs_, known.first, &BoardRun::id) == runs_.end();
  });
  putCurves();
  readAgain();
}

void MetricChart::setSources(std::vector<CurveRun> sources) {
  if (sources == sources_) return;
  sources_ = std::move(sources);
  readAgain();
}

void MetricChart::setBaseline(qint64 run) {
  baseline_ = run;
  putCurves();
}

bool MetricChart::hasGroups() const {
  return std::ranges::any_of(runs_, [](const BoardRun& run) { return !run.group.isEmpty(); });
}

std::vector<qint64> MetricChart::runs() const {
  std::vector<qint64> ids;
  for (const BoardRun& run : runs_) ids.push_back(run.id);
  return ids;
}

std::vector<int32_t> MetricChart::ranks() const {
  std::set<int32_t> all;
  for (const CurveRun& source : sources_) all.insert(source.ranks.begin(), source.ranks.end());
  return {all.begin(), all.end()};
}

bool MetricChart::isReady() const {
  return visibleRegion().isEmpty() || (!stale_ && !job_.running());
}

CurveQuery MetricChart::query() const {
  CurveQuery query{.metric = spec_.metric,
                   .x = spec_.x,
                   .xMetric = spec_.x == ChartX::metric ? spec_.xMetric : std::string(),
                   .smoothing = spec_.smoothing,
                   .rank = spec_.rank,
                   .pixels = std::max(100, width())};
  const bool complete =
      std::ranges::all_of(curves_, [](const auto& each) { return each.second.complete; });
  // Samples that are there need no finer reading, at any zoom and width.
  if (complete && !curves_.empty())
    query.pixels = asked_.pixels;
  else if (!showsAll())
    query.shown = xRange();
  return query;
}

/// Reads once the chart is on screen.
void MetricChart::readAgain() {
  stale_ = true;
  update();
}

void MetricChart::paintEvent(QPaintEvent* event) {
  LineChart::paintEvent(event);
  if (stale_ && !job_.running()) QTimer::singleShot(0, this, &MetricChart::read);
}

void MetricChart::resizeEvent(QResizeEvent* event) {
  LineChart::resizeEvent(event);
  readAgain();
}

void MetricChart::read() {
  if (!stale_ || job_.running()) return;
  stale_ = false;
  const CurveQuery query = this->query();
  if (query != asked_) known_.clear();
  std::vector<CurveRun> wanted;
  CurveEnds ends;
  for (const CurveRun& source : sources_) {
    const auto run = std::ranges::find(runs_, source.id, &BoardRun::id);
    if (run == runs_.end() || run->hidden) continue;
    CurveRun now = source;
    if (run->lastStep > 0) now.last = run->lastStep;
    CurveRun& known = known_[source.id];
    if (known == now) continue;
    const bool goesOn = known.continuesAs(now);
    for (auto at = curves_.lower_bound({now.id, kEachRank});
         goesOn && at != curves_.end() && at->first.first == now.id; ++at)
      ends[at->first] = at->second.end;
    known = now;
    wanted.push_back(std::move(now));
  }
  asked_ = query;
  if (wanted.empty()) {
    if (curves() == 0) putCurves();  // it waits for nothing
    return;
  }
  reading_ = std::make_shared<CurveReading>(query, std::move(wanted), std::move(ends));
  turn();
}

void MetricChart::turn() {
  session_.read(
      job_, [reading = reading_](storage::Reader& reader) { return reading->next(reader); },
      [this, reading = reading_](Result<std::vector<CurveData>> curves) {
        if (!curves) {
          known_.clear();
          return Q_EMIT session_.message(QString::fromStdString(curves.error().message), Tone::bad);
        }
        take(std::move(*curves));
        if (!reading->done()) return turn();
        if (stale_)
          read();
        else if (this->curves() == 0)
          putCurves();  // says so
      });
}

void MetricChart::take(std::vector<CurveData> curves) {
  for (CurveData& curve : curves) {
    if (!curve.after) {
      curves_[{curve.run, curve.rank}] = std::move(curve);
    } else if (const auto found = curves_.find({curve.run, curve.rank}); found != curves_.end()) {
      found->second.goOn(std::move(curve));
    } else {  // it was dropped meanwhile
      known_.erase(curve.run);
      readAgain();
    }
  }
  if (!curves.empty()) putCurves();
}

/// Puts what was read into curves.
void MetricChart::putCurves() {
  clearCurves();
  std::erase_if(curves_, [this](const auto& curve) {
    return spec_.rank == kEachRank ? curve.first.second < 0 : curve.first.second != spec_.rank;
  });
  QStringList detail;
  if (const QString ranks = ranksText(); !ranks.isEmpty()) detail << ranks;
  apart_.clear();
  std::vector<Shown> curves = shownCurves();
  const bool waits = stale_ || job_.running();
  if (const QString jumps = jumpsText(); !jumps.isEmpty()) detail << jumps;
  if (spec_.difference) subtractBaseline(curves, detail);
  setDetail(detail.join(QStringLiteral(", ")));
  setEmptyText(!apart_.isEmpty()         ? apart_
               : waits                   ? tr("reading")
               : runs_.empty()           ? tr("no run is shown")
               : spec_.x != ChartX::step ? tr("no run has it over %1").arg(xName())
                                         : tr("no step has reported it"));

  std::map<QString, std::vector<const Shown*>> groups;
  for (const Shown& curve : curves)
    if (spec_.aggregate && !curve.run->group.isEmpty()) groups[curve.run->group].push_back(&curve);
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  for (const Shown& curve : curves)
    if (!groups.contains(curve.run->group)) add(curve);
  for (const auto& [group, members] : groups) addGroup(group, members);
}

/// "the clock jumps at 1 step, placed between the neighbours": times of day, or since the start.
QString MetricChart::jumpsText() const {
  if (spec_.x == ChartX::step || spec_.x == ChartX::tokens) return {};
  int64_t jumps = 0;
  for (const auto& [of, curve] : curves_)
    if (curve.end.axis) jumps += curve.end.axis->jumps();
  if (jumps == 0) return {};
  const QString steps = format::plural(jumps, counted::kStep);
  return spec_.x == ChartX::metric
             ? tr("%1 does not grow at %2, placed between the neighbours").arg(xName(), steps)
             : tr("the clock jumps at %1, placed between the neighbours").arg(steps);
}

std::vector<MetricChart::Shown> MetricChart::shownCurves() const {
  std::vector<Shown> shown;
  for (const BoardRun& run : runs_) {
    if (run.hidden) continue;
    for (auto at = curves_.lower_bound({run.id, kEachRank});
         at != curves_.end() && at->first.first == run.id; ++at) {
      const CurveData& data = at->second;
      const QString name =
          spec_.rank == kEachRank ? tr("%1, rank %2").arg(run.name).arg(data.rank) : run.name;
      if (data.extent.valid()) shown.push_back({name, &run, data.raw, data.smooth, data.extent});
    }
  }
  return shown;
}

/// The curves become differences from the baseline's; says where there are none.
void MetricChart::subtractBaseline(std::vector<Shown>& curves, QStringList& detail) {
  const auto baseline =
      std::ranges::find(curves, baseline_, [](const Shown& curve) { return curve.run->id; });
  if (baseline == curves.end()) {
    detail << tr("no baseline is shown");
    return;
  }
  const Shown from = *baseline;
  detail << tr("less %1").arg(from.name);
  std::erase_if(curves, [this](const Shown& curve) { return curve.run->id == baseline_; });
  QStringList apart;
  for (Shown& curve : curves) {
    curve.raw = differenceOf(curve.raw, from.raw);
    curve.smooth = differenceOf(curve.smooth, from.smooth);
    if (curve.raw.empty()) apart << curve.name;
  }
  std::erase_if(curves, [](const Shown& curve) { return curve.raw.empty(); });
  if (apart.isEmpty()) {
    if (curves.empty()) apart_ = tr("no other run is shown");
    return;
  }
  const QString which = apart.size() == 1 ? apart.first() : tr("%1 curves").arg(apart.size());
  const QString words = tr("%1: no %2 in common with %3").arg(which, xName(), from.name);
  curves.empty() ? void(apart_ = words) : void(detail << words);
}

void MetricChart::add(const Shown& curve) {
  const int number = addCurve(curve.name, curve.run->stroke.color, curve.run->stroke.marker);
  setSeries(number, curve.raw);
  setSmooth(number, curve.smooth);
  setExtent(number, curve.extent);
  setHighlighted(number, curve.run->highlighted);
  setFilled(number, spec_.band);
}

void MetricChart::addGroup(const QString& group, const std::vector<const Shown*>& members) {
  std::vector<const Series*> curves;
  Range extent;
  bool highlighted = false;
  for (const Shown* member : members) {
    curves.push_back(member->smooth.empty() ? &member->raw : &member->smooth);
    if (member->extent.valid())
      extent.include(member->extent.low), extent.include(member->extent.high);
    highlighted |= member->run->highlighted;
  }
  Band band = bandOf(curves, static_cast<size_t>(2 * std::max(100, width())));
  Series mean;
  for (size_t i = 0; i < band.range.size(); ++i) mean.append(band.range.x()[i], band.range.y()[i]);
  const RunStroke& stroke = members.front()->run->stroke;
  const int number = addCurve(group, stroke.color, stroke.marker);
  setSeries(number, std::move(band.range));
  setSmooth(number, std::move(mean));
  setBand(number, std::move(band.members));
  setExtent(number, extent);
  setHighlighted(number, highlighted);
}

}  // namespace heddle::gui
