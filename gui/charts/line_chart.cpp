#include "gui/charts/line_chart.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "gui/charts/crosshair.h"
#include "gui/charts/curve_layer.h"
#include "gui/charts/legend.h"
#include "gui/charts/unit_ticker.h"
#include "gui/theme/plot_style.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kRedrawMilliseconds = 250;

}  // namespace

LineChart::LineChart(const QString& title, Unit unit, QWidget* parent)
    : Card(title, parent), xName_(tr("step")), unit_(unit) {
  legend_ = new Legend;
  addControl(legend_);
  plot_ = new QCustomPlot;
  plot_->setMinimumSize(0, 0);
  plot_->setMouseTracking(true);
  plot_->installEventFilter(this);
  stylePlot(plot_);
  xTicker_.reset(new UnitTicker(xUnit_));
  xTicker_->setWhole(true);
  yTicker_.reset(new UnitTicker(unit_));
  plot_->xAxis->setTicker(xTicker_);
  plot_->yAxis->setTicker(yTicker_);
  layer_ = new CurveLayer(plot_->xAxis, plot_->yAxis);
  setBodyMargins(4, 0, 0, 4);
  body()->addWidget(plot_, 1);
  overlay_ = new Crosshair(plot_);
  xCaption_ = new QCPItemText(plot_);
  emptyCaption_ = new QCPItemText(plot_);
  for (QCPItemText* caption : {xCaption_, emptyCaption_}) caption->setClipToAxisRect(false);
  xCaption_->position->setType(QCPItemPosition::ptAxisRectRatio);
  xCaption_->position->setCoords(0, 1);
  emptyCaption_->position->setType(QCPItemPosition::ptViewportRatio);  // the axes are not shown
  emptyCaption_->position->setCoords(0.5, 0.5);
  xCaption_->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);

  markLine_ = new QCPItemStraightLine(plot_);
  markLabel_ = new QCPItemText(plot_);
  markLabel_->setClipToAxisRect(false);
  markLabel_->position->setType(QCPItemPosition::ptAbsolute);
  markLabel_->setPositionAlignment(Qt::AlignTop | Qt::AlignLeft);
  connect(plot_, &QCustomPlot::afterLayout, this, &LineChart::placeWords);

  setMark({});
  setFocusPolicy(Qt::StrongFocus);
  plot_->setFocusProxy(this);
  plot_->setAttribute(Qt::WA_NoMousePropagation, false);  // a right click is for the card's menu
  setAccessibleName(title);
  moveCrosshair({});
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &LineChart::redraw);
  connect(&Theme::instance(), &Theme::changed, this, &LineChart::redraw);
  sinceRedraw_.start();
}

void LineChart::setDetail(const QString& detail) {
  detail_ = detail;
  changed();
}

void LineChart::setXAxis(const QString& name, Unit unit, bool clock) {
  xName_ = name;
  xUnit_ = unit;
  clock_ = clock;
  xTicker_->setUnit(unit);
  xTicker_->setWhole(unit == Unit::count);
  xTicker_->setClock(clock);
  changed();
}

void LineChart::setLog(bool x, bool y) {
  logX_ = x;
  logY_ = y;
  for (const auto& [axis, ticker, log] :
       {std::tuple(plot_->xAxis, xTicker_, x), {plot_->yAxis, yTicker_, y}}) {
    axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    ticker->setLog(log);
  }
  changed();
}

ScaledUnit LineChart::yUnit() const { return yTicker_->scaled(); }

void LineChart::setLimits(const Limits& limits) {
  limits_ = limits;
  changed();
}

void LineChart::setIgnoresOutliers(bool ignores) {
  ignoresOutliers_ = ignores;
  changed();
}

int LineChart::addCurve(const QString& name, const QColor& color, int marker) {
  Curve curve;
  curve.name = name;
  curve.color = color;
  curve.marker = marker;
  curve.ema.half_life = smoothing_;
  curves_.push_back(std::move(curve));
  changed();
  return curves() - 1;
}

void LineChart::clearCurves() {
  curves_.clear();
  changed();
}

void LineChart::setColor(int curve, const QColor& color) {
  of(curve).color = color;
  changed();
}

void LineChart::append(int curve, double x, double y) {
  Curve& to = of(curve);
  const bool grows = to.series.empty() || x > to.series.lastX();
  to.series.append(x, y);
  if (!grows) {
    to.smooth.clear();
    to.ema = {.half_life = smoothing_};
  }
  changed();
}

void LineChart::setSeries(int curve, Series series) {
  Curve& to = of(curve);
  to.series = std::move(series);
  to.smooth.clear();
  to.ema = {.half_life = smoothing_};
  changed();
}

void LineChart::setSmooth(int curve, Series smooth) {
  of(curve).smooth = std::move(smooth);
  changed();
}

void LineChart::setBand(int curve, std::vector<int> members) {
  of(curve).members = std::move(members);
  changed();
}

void LineChart::setFilled(int curve, bool filled) {
  of(curve).filled = filled;
  changed();
}

void LineChart::setExtent(int curve, const Range& extent) {
  of(curve).extent = extent;
  changed();
}

void LineChart::setHighlighted(int curve, bool highlighted) {
  of(curve).highlighted = highlighted;
  changed();
}

void LineChart::setSmoothing(double halfLife) {
  smoothing_ = halfLife;
  for (Curve& curve : curves_) {
    curve.smooth.clear();
    curve.ema = {.half_life = halfLife};
  }
  changed();
}

void LineChart::setWarmUp(int samples) {
  warmUp_ = samples;
  changed();
}

void LineChart::setReferences(std::vector<ReferenceLine> lines) {
  references_ = std::move(lines);
  for (const auto& [line, label] : referenceItems_) {
    plot_->removeItem(line);
    plot_->removeItem(label);
  }
  referenceItems_.clear();
  for (const ReferenceLine& reference : references_) {
    auto* line = new QCPItemStraightLine(plot_);
    auto* label = new QCPItemText(plot_);
    label->setText(reference.label);
    label->setLayer(QStringLiteral("grid"));  // hides lines of the grid, and no curve
    label->position->setType(QCPItemPosition::ptAbsolute);
    label->setPositionAlignment(Qt::AlignTop | Qt::AlignLeft);
    referenceItems_.emplace_back(line, label);
  }
  changed();
}

void LineChart::setMark(std::optional<ChartMark> mark) {
  mark_ = std::move(mark);
  const QString keys =
      tr("Drag over a stretch, or turn the wheel with Ctrl, to zoom; double-click "
         "shows all. After a click the wheel zooms without Ctrl, and so do W and "
         "S; A and D pan, arrows read off");
  setToolTip(mark_ ? mark_->label + QStringLiteral("\n\n") + keys : keys);
  changed();
}

void LineChart::setEmptyText(const QString& text) {
  emptyText_ = text;
  changed();
}

void LineChart::changed() {
  if (!timer_.isActive()) {
    timer_.start(std::max<int>(0, kRedrawMilliseconds - static_cast<int>(sinceRedraw_.elapsed())));
  }
}

void LineChart::flush() {
  timer_.stop();
  redraw();
}

Range LineChart::xExtent() const {
  Range extent;
  const auto include = [&](double x) {
    if (!logX_ || x > 0) extent.include(x);
  };
  for (const Curve& curve : curves_) {
    if (curve.extent.valid()) include(curve.extent.low), include(curve.extent.high);
    const auto x = curve.series.x();
    if (x.empty()) continue;
    // On a logarithmic axis nothing is at 0.
    if (const auto first = std::ranges::find_if(x, [&](double at) { return !logX_ || at > 0; });
        first != x.end())
      include(*first);
    include(x.back());
  }
  return extent;
}

Range LineChart::xRange() const {
  if (!showsAll_) return view_;
  Range all = xExtent();
  if (groupExtent_.valid() && !logX_) {
    all.include(groupExtent_.low);
    all.include(groupExtent_.high);
  }
  if (!all.valid()) return logX_ ? Range{1, 10} : Range{0, 1};
  if (logX_) return all.low == all.high ? Range{all.low / 2, all.high * 2} : all;
  if (xUnit_ == Unit::count && all.low == 1) all.low = 0;  // steps count from 1, axes from 0
  if (all.low == all.high) return {all.low - 0.5, all.high + 0.5};
  return all;
}

void LineChart::setGroupExtent(const Range& extent) {
  if (extent.low == groupExtent_.low && extent.high == groupExtent_.high) return;
  groupExtent_ = extent;
  if (!timer_.isActive()) changed();
}

void LineChart::setXRange(double from, double to) {
  showsAll_ = false;
  view_ = {from, to};
  redraw();
  Q_EMIT shownChanged();
}

void LineChart::followXRange(double from, double to) {
  showsAll_ = false;
  view_ = {from, to};
  timer_.start(0);
  Q_EMIT shownChanged();
}

void LineChart::showAll() {
  if (std::exchange(showsAll_, true)) return;
  redraw();
  Q_EMIT shownChanged();
}

void LineChart::followAll() {
  if (std::exchange(showsAll_, true)) return;
  timer_.start(0);
  Q_EMIT shownChanged();
}

}  // namespace heddle::gui
