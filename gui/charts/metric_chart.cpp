#include "gui/charts/metric_chart.h"

#include <QTimer>
#include <algorithm>

#include "engine/telemetry/metrics.h"
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
  connect(&Theme::instance(), &Theme::changed, this, &MetricChart::show);
}

void MetricChart::describe() {
  setWarmUp(telemetry::metric(spec_.metric).unit == Unit::tokens_per_second
                ? telemetry::kWarmUpSteps
                : 0);
  switch (spec_.x) {
    case ChartX::step:
      return setXAxis(tr("step"), Unit::count);
    case ChartX::tokens:
      return setXAxis(tr("tokens"), Unit::tokens);
    case ChartX::time:
    case ChartX::clock:
      return setXAxis(tr("time"), Unit::seconds);
  }
}

void MetricChart::setSpec(ChartSpec spec) {
  if (spec == spec_) return;
  const bool otherX = spec.x != spec_.x;
  spec_ = std::move(spec);
  if (otherX) showAll();
  describe();
  show();
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
  show();
  readAgain();
}

void MetricChart::setSources(std::vector<CurveRun> sources) {
  sources_ = std::move(sources);
  readAgain();
}

void MetricChart::setBaseline(qint64 run) {
  baseline_ = run;
  show();
}

bool MetricChart::isReady() const {
  return visibleRegion().isEmpty() || (!stale_ && !job_.running());
}

CurveQuery MetricChart::query() const {
  CurveQuery query{.metric = spec_.metric,
                   .x = spec_.x,
                   .smoothing = spec_.smoothing,
                   .rank = spec_.rank,
                   .pixels = std::max(100, width())};
  const bool complete =
      std::ranges::all_of(curves_, [](const auto& each) { return each.second.complete; });
  // What is there already needs no finer reading, however far one zooms.
  if (!showsAll() && !(complete && !curves_.empty())) query.shown = xRange();
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
  for (const CurveRun& source : sources_) {
    const auto run = std::ranges::find(runs_, source.id, &BoardRun::id);
    const auto known = known_.find(source.id);
    if (run == runs_.end() || run->hidden) continue;
    if (known != known_.end() && known->second == source.version) continue;
    wanted.push_back(source);
    known_[source.id] = source.version;
  }
  asked_ = query;
  if (wanted.empty()) return;
  reading_ = std::make_shared<CurveReading>(query, std::move(wanted));
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
        if (stale_) read();
      });
}

void MetricChart::take(std::vector<CurveData> curves) {
  for (CurveData& curve : curves) {
    auto& place = curves_[{curve.run, curve.rank}];
    place = std::move(curve);
  }
  if (!curves.empty()) show();
}

/// Puts what was read into curves.
void MetricChart::show() {
  clearCurves();
  std::erase_if(curves_, [this](const auto& curve) {
    return (spec_.rank == kEachRank) ? curve.first.second < 0 : curve.first.second != spec_.rank;
  });
  for (const BoardRun& run : runs_) {
    if (run.hidden) continue;
    for (auto at = curves_.lower_bound({run.id, kAllRanks}); at != curves_.end(); ++at) {
      const auto& [key, data] = *at;
      if (key.first != run.id) break;
      const QString name =
          key.second < 0 ? run.name : tr("%1, rank %2").arg(run.name).arg(key.second);
      const int curve = addCurve(name, run.stroke.color, run.stroke.marker);
      setSeries(curve, data.raw);
      setSmooth(curve, data.smooth);
      setHighlighted(curve, run.highlighted);
      setExtent(curve, data.extent);
    }
  }
  setEmptyText(curves_.empty() ? tr("no step has finished yet") : tr("no run reports it"));
}

}  // namespace heddle::gui
