#include "gui/charts/line_chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/charts/crosshair.h"
#include "gui/charts/legend.h"
#include "gui/charts/unit_ticker.h"
#include "gui/theme/plot_style.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kRedrawMilliseconds = 250;
constexpr double kRawOpacity = 0.5;  // next to a smoothed companion
constexpr int kBetweenMarks = 113;   // pixels
constexpr int kLoneSize = 4;         // pixels, of a sample that no line reaches
constexpr int kBesideTicks = 4;      // pixels between a tick's label and its neighbour
constexpr size_t kLongRun = 10;      // times its warm-up: no more of it than that may be cut off

QPen solid(const QColor& color, int width) { return QPen(color, width); }

/// Every column as the vertical stroke of its samples.
QVector<QCPGraphData> strokes(const std::vector<Column>& columns) {
  QVector<QCPGraphData> points;
  points.reserve(static_cast<qsizetype>(columns.size()) * 4);
  for (const Column& column : columns) {
    points.append({column.x, column.first});
    if (column.min < column.max) {
      points.append({column.x, column.min});
      points.append({column.x, column.max});
      points.append({column.x, column.last});
    }
  }
  return points;
}

QVector<QCPGraphData> lasts(const std::vector<Column>& columns) {
  QVector<QCPGraphData> points;
  points.reserve(static_cast<qsizetype>(columns.size()));
  for (const Column& column : columns) points.append({column.x, column.last});
  return points;
}

/// A little air above and below. Where values hardly differ the range is wider than they are, so
/// that noise of a percent does not look like drama.
QCPRange padded(Range range, Unit unit) {
  if (!range.valid()) return {0, 1};
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  const bool steady = unit == Unit::bytes || unit == Unit::tokens_per_second;
  const double least = largest > 0 ? largest * (steady ? 0.2 : 0.02) : 1e-6;
  if (const double lacks = least - (range.high - range.low); lacks > 0) {
    range.low -= lacks / 2;
    range.high += lacks / 2;
  }
  const double pad = (range.high - range.low) * 0.1;
  return {range.low - pad, range.high + pad};
}

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
  setAccessibleName(title);
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &LineChart::redraw);
  connect(&Theme::instance(), &Theme::changed, this, &LineChart::redraw);
  sinceRedraw_.start();
}

void LineChart::setDetail(const QString& detail) {
  detail_ = detail;
  changed();
}

void LineChart::setXAxis(const QString& name, Unit unit) {
  xName_ = name;
  xUnit_ = unit;
  xTicker_->setUnit(unit);
  xTicker_->setWhole(unit == Unit::count);
  changed();
}

int LineChart::addCurve(const QString& name, const QColor& color, int marker) {
  Curve curve;
  curve.name = name;
  curve.color = color;
  curve.marker = marker;
  curve.ema.halfLife = smoothing_;
  for (QCPGraph** graph : {&curve.line, &curve.wide, &curve.gaps, &curve.marks, &curve.lone}) {
    *graph = plot_->addGraph();
    (*graph)->setAdaptiveSampling(false);
    (*graph)->setAntialiased(graph != &curve.gaps);
  }
  for (QCPGraph* graph : {curve.gaps, curve.marks, curve.lone})
    graph->setLineStyle(QCPGraph::lsNone);
  curves_.push_back(std::move(curve));
  changed();
  return curves() - 1;
}

void LineChart::clearCurves() {
  for (const Curve& curve : curves_) {
    for (QCPGraph* graph : {curve.line, curve.wide, curve.gaps, curve.marks, curve.lone})
      plot_->removeGraph(graph);
  }
  curves_.clear();
  changed();
}

void LineChart::setColor(int curve, const QColor& color) {
  curves_[static_cast<size_t>(curve)].color = color;
  changed();
}

void LineChart::append(int curve, double x, double y) {
  Curve& of = curves_[static_cast<size_t>(curve)];
  const bool grows = of.series.empty() || x > of.series.lastX();
  of.series.append(x, y);
  if (!grows) {
    of.smooth.clear();
    of.ema = {.halfLife = smoothing_};
  }
  changed();
}

void LineChart::setSeries(int curve, Series series) {
  Curve& of = curves_[static_cast<size_t>(curve)];
  of.series = std::move(series);
  of.smooth.clear();
  of.ema = {.halfLife = smoothing_};
  changed();
}

void LineChart::setSmooth(int curve, Series smooth) {
  curves_[static_cast<size_t>(curve)].smooth = std::move(smooth);
  changed();
}

void LineChart::setSmoothing(double halfLife) {
  smoothing_ = halfLife;
  for (Curve& curve : curves_) {
    curve.smooth.clear();
    curve.ema = {.halfLife = halfLife};
  }
  changed();
}

void LineChart::setWarmUp(int samples) {
  warmUp_ = samples;
  changed();
}

void LineChart::setHighlighted(int curve) {
  highlighted_ = curve;
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
  emptyCaption_->setText(text);
  changed();
}

void LineChart::changed() {
  if (!timer_.isActive()) {
    timer_.start(std::max<int>(0, kRedrawMilliseconds - static_cast<int>(sinceRedraw_.elapsed())));
  }
  Q_EMIT extentChanged();
}

void LineChart::flush() {
  timer_.stop();
  redraw();
}

Range LineChart::xExtent() const {
  Range extent;
  for (const Curve& curve : curves_) {
    if (curve.series.empty()) continue;
    extent.include(curve.series.x().front());
    extent.include(curve.series.x().back());
  }
  return extent;
}

Range LineChart::xRange() const {
  if (!showsAll_) return view_;
  Range all = xExtent();
  if (groupExtent_.valid()) {
    all.include(groupExtent_.low);
    all.include(groupExtent_.high);
  }
  if (!all.valid()) return {0, 1};
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

void LineChart::showAll() {
  if (!std::exchange(showsAll_, true)) Q_EMIT shownChanged();
  redraw();
}

void LineChart::redraw() {
  if (!isVisible()) return;  // drawn when it is shown
  timer_.stop();
  sinceRedraw_.restart();
  ++redraws_;
  const Range x = xRange();
  Range y;
  for (size_t i = 0; i < curves_.size(); ++i) {
    const Range of = drawCurve(curves_[i], static_cast<int>(i) == highlighted_, x);
    if (of.valid()) y.include(of.low), y.include(of.high);
  }
  const bool empty = !xExtent().valid();
  if (!empty) {
    for (const ReferenceLine& reference : references_) y.include(reference.value);
  }
  const QCPRange values = padded(y, unit_);
  plot_->xAxis->setRange(x.low, x.high);
  plot_->yAxis->setRange(values);
  xTicker_->setRange(plot_->xAxis->range());
  yTicker_->setRange(y.valid() ? QCPRange(y.low, y.high) : values);
  xTicker_->setTickCount(std::clamp(plot_->width() / 80, 2, 12));
  yTicker_->setTickCount(std::clamp(plot_->height() / 34, 2, 10));
  plot_->yAxis->grid()->setVisible(!empty);
  plot_->yAxis->setTickLabels(!empty);
  plot_->xAxis->setTickLabels(!empty);
  for (Curve& curve : curves_) drawGaps(curve, x, values.lower + values.size() * 0.03);

  xCaption_->setFont(font::caption());
  xCaption_->setColor(colors().muted);
  const QString xUnit = xTicker_->scaled().name;
  xCaption_->setText(xUnit.isEmpty() ? xName_ : xName_ + QStringLiteral(", ") + xUnit);
  xCaption_->setVisible(!empty);
  // Ticks are at the very corners, too: half of one reaches over the edge.
  const QFontMetrics captions(font::caption()), ticks(plot_->xAxis->tickLabelFont());
  const double step = (x.high - x.low) / (xTicker_->scaled().scale * xTicker_->tickCount());
  const QString widest = tickText(x.high / xTicker_->scaled().scale, std::max(step, 1e-6));
  const int gap = ticks.horizontalAdvance(widest) / 2 + kBesideTicks;
  xCaption_->setPadding(QMargins(0, 5, gap, 0));
  const int top = showsMark() ? captions.height() + ticks.height() / 2 + kBesideTicks : 8;
  plot_->axisRect()->setMinimumMargins(
      QMargins(captions.horizontalAdvance(xCaption_->text()) + gap + 8, top, 14, 22));
  emptyCaption_->setFont(font::text());
  emptyCaption_->setColor(colors().muted);
  emptyCaption_->setVisible(empty);

  QStringList note;
  if (const QString name = yTicker_->scaled().name; !name.isEmpty() && !empty) note << name;
  if (!detail_.isEmpty()) note << detail_;
  setNote(note.join(unit_ == Unit::tokens_per_second ? QStringLiteral(" ") : QStringLiteral(", ")));
  updateLegend();
  plot_->replot(QCustomPlot::rpImmediateRefresh);
  overlay_->setGeometry(plot_->rect());
  setCrosshair(crosshair_, crosshairText_);
}

Range LineChart::drawCurve(Curve& curve, bool highlighted, const Range& x) {
  if (highlighted && smoothing_ > 0) {
    const auto of = curve.series.x(), y = curve.series.y();
    for (size_t i = curve.smooth.size(); i < y.size(); ++i)
      curve.smooth.append(of[i], curve.ema.next(of[i], y[i]));
  }
  const bool smooths = !curve.smooth.empty();
  const auto raw = columns(curve.series, x.low, x.high, plot_->width());
  curve.line->data()->set(strokes(raw), true);
  const QColor color = smooths ? blend(colors().surface, curve.color, kRawOpacity) : curve.color;
  curve.line->setPen(solid(color, 1));
  curve.lone->data()->set(lasts(lone(raw)), true);
  curve.lone->setScatterStyle(
      QCPScatterStyle(QCPScatterStyle::ssDisc, curve.color, curve.color, kLoneSize));
  if (smooths) {
    const auto reduced = columns(curve.smooth, x.low, x.high, plot_->width());
    curve.wide->data()->set(lasts(reduced), true);
    curve.wide->setPen(solid(curve.color, highlighted ? 2 : 1));
  }
  curve.wide->setVisible(smooths);
  if (curve.marker >= 0) drawMarks(curve, raw, x);
  const auto warmUp = static_cast<size_t>(warmUp_);
  if (curve.series.size() < kLongRun * warmUp || warmUp == 0) return rangeOf(raw);
  std::vector<Column> steady = raw;
  const double begins = curve.series.x()[warmUp];
  std::erase_if(steady, [&](const Column& column) { return column.x < begins; });
  return rangeOf(steady.empty() ? raw : steady);
}

void LineChart::drawMarks(Curve& curve, const std::vector<Column>& columns, const Range& x) {
  // Neighbours on the same path are marked at different places.
  const auto number = static_cast<int>(&curve - curves_.data());
  const double pixel = (x.high - x.low) / std::max(1, plot_->width());
  const double between = kBetweenMarks * pixel;
  double next = x.low + pixel * (24 + number * 37 % kBetweenMarks);
  QVector<QCPGraphData> marks;
  for (const Column& column : columns) {
    if (column.x < next || !std::isfinite(column.last)) continue;
    marks.append({column.x, column.last});
    next += between * (std::floor((column.x - next) / between) + 1);
  }
  curve.marks->data()->set(marks, true);
  curve.marks->setScatterStyle(
      QCPScatterStyle(markerPath(curve.marker), QPen(curve.color), QBrush(curve.color), 6));
}

void LineChart::drawGaps(Curve& curve, const Range& x, double bottom) {
  Series marks;
  for (const double at : curve.series.notFinite()) marks.append(at, bottom);
  curve.gaps->data()->set(lasts(columns(marks, x.low, x.high, plot_->width())), true);
  curve.gaps->setScatterStyle(
      QCPScatterStyle(QCPScatterStyle::ssTriangle, colors().bad, colors().bad, 7));
}

void LineChart::updateLegend() {
  QVector<LegendEntry> entries;
  if (curves_.size() == 1 && smoothing_ > 0) {
    const QColor color = curves_[0].color;
    entries.append({tr("raw"), blend(colors().surface, color, kRawOpacity), -1, 1});
    entries.append({tr("smoothed"), color, -1, 2});
  } else if (curves_.size() > 1) {
    for (size_t i = 0; i < curves_.size(); ++i) {
      if (curves_[i].name.isEmpty()) continue;
      const bool wide = smoothing_ > 0 && static_cast<int>(i) == highlighted_;
      entries.append({curves_[i].name, curves_[i].color, curves_[i].marker, wide ? 2 : 1});
    }
  }
  legend_->setEntries(std::move(entries));
}

}  // namespace heddle::gui
