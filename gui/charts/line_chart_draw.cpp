// A redraw of a chart: its curves as columns, its axes around them.
#include <algorithm>
#include <cmath>

#include "gui/charts/crosshair.h"
#include "gui/charts/curve_layer.h"
#include "gui/charts/legend.h"
#include "gui/charts/line_chart.h"
#include "gui/charts/unit_ticker.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kBesideTicks = 4;     // pixels between a tick's label and its neighbour
constexpr int kWide = 440;          // pixels
constexpr size_t kLongRun = 10;     // times its warm-up: no more of it than that may be cut off
constexpr double kOutliers = 0.01;  // so large a part at either end

/// A little air above and below. Where values hardly differ the range is wider than they are, so
/// that noise of a percent does not look like drama.
Range padded(Range range, Unit unit, bool log) {
  if (!range.valid()) return log ? Range{1, 10} : Range{0, 1};
  if (log) {
    const double pad = std::pow(std::max(range.high / range.low, 1.2), 0.06);
    return {range.low / pad, range.high * pad};
  }
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  const bool steady = unit == Unit::bytes || unit == Unit::tokens_per_second;
  // Zeroes alone do not say how small a difference matters.
  const double least = largest > 0 ? largest * (steady ? 0.2 : 0.02) : 1;
  if (const double lacks = least - (range.high - range.low); lacks > 0) {
    range.low -= lacks / 2;
    range.high += lacks / 2;
  }
  const double pad = (range.high - range.low) * 0.1;
  return {range.low - pad, range.high + pad};
}

/// The range between two percentiles.
Range inner(std::vector<double> values) {
  Range range;
  const auto rank = static_cast<size_t>(kOutliers * static_cast<double>(values.size()));
  for (const size_t at : {rank, values.size() - 1 - rank}) {
    std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(at));
    range.include(values[at]);
  }
  return range;
}

}  // namespace

void LineChart::redraw() {
  Q_EMIT extentChanged();
  timer_.stop();
  if (!isVisible()) return;  // drawn when it is shown
  sinceRedraw_.restart();
  ++redraws_;
  const Range x = xRange();
  Range y = drawCurves(x);
  const bool empty = !xExtent().valid();
  if (!empty) {
    for (const ReferenceLine& reference : references_)
      if (!logY_ || reference.value > 0) y.include(reference.value);
  }
  drawAxes(x, y, empty);
  legend_->setEntries(legendEntries());
  fitLegend();
  plot_->replot(QCustomPlot::rpImmediateRefresh);
  overlay_->setGeometry(plot_->rect());
  setCrosshair(crosshair_, crosshairText_);
}

/// Returns the range of y that they need.
Range LineChart::drawCurves(const Range& x) {
  std::vector<DrawnCurve> drawn;
  std::vector<double> values;  // where outliers are left out
  Range y;
  hidesValues_ = false;
  const auto include = [&](double value) {
    if (logY_ && !(value > 0)) {
      hidesValues_ = true;
      return;
    }
    ignoresOutliers_ ? values.push_back(value) : y.include(value);
  };
  for (Curve& curve : curves_) {
    const auto samples = curve.series.x();
    if (smoothing_ > 0) {
      for (size_t i = curve.smooth.size(); i < samples.size(); ++i)
        curve.smooth.append(samples[i], curve.ema.next(samples[i], curve.series.y()[i]));
    }
    DrawnCurve& of = drawn.emplace_back();
    of.color = curve.color;
    of.marker = curve.marker;
    of.highlighted = curve.highlighted;
    of.hasBand = curve.filled || !curve.members.empty();
    of.raw = columns(curve.series, x.low, x.high, plot_->width(), logX_);
    of.smooth = columns(curve.smooth, x.low, x.high, plot_->width(), logX_);
    of.gaps = curve.series.notFinite();
    const auto warmUp = static_cast<size_t>(warmUp_);
    const bool cutsWarmUp = warmUp > 0 && samples.size() >= kLongRun * warmUp;
    const double begins = cutsWarmUp ? samples[warmUp] : x.low;
    const bool steady =
        std::ranges::any_of(of.raw, [&](const Column& each) { return each.x >= begins; });
    // Samples that are not drawn do not make the axis longer.
    const bool smoothAlone =
        !Theme::instance().samplesBehind() && !of.smooth.empty() && !of.hasBand;
    for (const Column& column : smoothAlone ? of.smooth : of.raw) {
      if (!std::isfinite(column.last) || (cutsWarmUp && steady && column.x < begins)) continue;
      include(column.min);
      if (column.max > column.min) include(column.max);
    }
  }
  layer_->setCurves(std::move(drawn));
  return values.empty() ? y : inner(std::move(values));
}

/// A person's limits go before the range of the curves.
Range LineChart::shownY(Range y) const {
  Range shown = padded(y, unit_, logY_);
  const auto fits = [this](std::optional<double> limit) { return limit && (!logY_ || *limit > 0); };
  if (fits(limits_.low)) shown.low = *limits_.low;
  if (fits(limits_.high)) shown.high = *limits_.high;
  if (shown.low < shown.high) return shown;
  // One end is set, beyond all curves.
  const double apart = std::max(1e-6, std::abs(shown.low) * 0.1);
  return fits(limits_.low) ? Range{shown.low, shown.low + apart}
                           : Range{logY_ ? shown.high / 10 : shown.high - apart, shown.high};
}

void LineChart::drawAxes(const Range& x, const Range& y, bool empty) {
  const Range values = shownY(y);
  plot_->xAxis->setRange(x.low, x.high);
  plot_->yAxis->setRange(values.low, values.high);
  xTicker_->setRange(plot_->xAxis->range());
  const bool limited = limits_.low || limits_.high || !y.valid();
  yTicker_->setRange(limited ? plot_->yAxis->range() : QCPRange(y.low, y.high));
  xTicker_->setTickCount(std::clamp(plot_->width() / (clock_ ? 100 : 80), 2, 12));
  yTicker_->setTickCount(std::clamp(plot_->height() / 34, 2, 10));
  plot_->yAxis->grid()->setVisible(!empty);
  plot_->yAxis->setTickLabels(!empty);
  plot_->xAxis->setTickLabels(!empty);

  xCaption_->setFont(font::caption());
  xCaption_->setColor(colors().muted);
  const QString xUnit = clock_ ? QString() : xTicker_->scaled().name;
  xCaption_->setText(xUnit.isEmpty() ? xName_ : xName_ + QStringLiteral(", ") + xUnit);
  xCaption_->setVisible(!empty);
  // Ticks are at the very corners, too: half of one reaches over the edge.
  const QFontMetrics captions(font::caption()), ticks(plot_->xAxis->tickLabelFont());
  const int gap = ticks.horizontalAdvance(xTicker_->widestLabel(x.high)) / 2 + kBesideTicks;
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
  if (hidesValues_) note << tr("0 and below are not on a logarithmic axis");
  const QString words =
      note.join(unit_ == Unit::tokens_per_second ? QStringLiteral(" ") : QStringLiteral(", "));
  if (words != this->note()) setNote(words);
}

/// Title and note have their room first; where the title has none with a legend there is none.
void LineChart::fitLegend() {
  const QLayout* head = legend_->parentWidget()->layout();
  const QMargins margins = head->contentsMargins();
  int whole = width() - margins.left() - margins.right(), least = whole;
  for (int i = 0; i < head->count(); ++i) {
    const QWidget* part = head->itemAt(i)->widget();
    if (!part || part == legend_ || part->isHidden()) continue;
    whole -= part->sizeHint().width() + head->spacing();
    least -= std::max(part->minimumWidth(), part->minimumSizeHint().width()) + head->spacing();
  }
  legend_->setMaximumWidth(std::max(width() / 2, whole));
  legend_->setVisible(least >= legend_->minimumSizeHint().width());
}

QVector<LegendEntry> LineChart::legendEntries() const {
  QVector<LegendEntry> entries;
  if (curves_.size() == 1 && curves_[0].members.empty()) {
    // In a narrow card the title needs the room.
    if (!curves_[0].smooth.empty() && Theme::instance().samplesBehind() && width() >= kWide) {
      const QColor color = curves_[0].color;
      entries.append({tr("raw"), blend(colors().surface, color, 0.5), -1, 1});
      entries.append({tr("smoothed"), color, -1, 2});
    }
  } else {
    for (const Curve& curve : curves_) {
      if (curve.name.isEmpty()) continue;
      const QString name =
          curve.members.empty()
              ? curve.name
              : tr("%1 (n %2)").arg(curve.name).arg(std::ranges::max(curve.members));
      entries.append({name, curve.color, curve.marker, curve.highlighted ? 2 : 1});
    }
  }
  return entries;
}

}  // namespace heddle::gui
