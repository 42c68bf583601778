// A person's actions on a chart: crosshair, zoom, pan.
#include <algorithm>
#include <cmath>

#include "gui/charts/crosshair.h"
#include "gui/charts/legend.h"
#include "gui/charts/line_chart.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kDragDistance = 4;

}  // namespace

void LineChart::setCrosshair(std::optional<double> x, bool withText) {
  crosshair_ = x;
  crosshairText_ = withText;
  if (!x) return overlay_->clear();
  const auto pointer =
      pointed_ ? std::optional(plot_->yAxis->coordToPixel(*pointed_)) : std::nullopt;
  overlay_->show(plot_->xAxis->coordToPixel(*x), pointer, plot_->axisRect()->rect(),
                 withText ? crosshairLines(*x) : QVector<CrosshairLine>());
}

void LineChart::moveCrosshair(std::optional<double> x) {
  setCrosshair(x);
  setAccessibleDescription(x ? crosshairText(*x).join(QStringLiteral(", "))
                             : tr("Left and right read values; the menu has a table of them"));
  Q_EMIT crosshairMoved(x);
}

double LineChart::xAt(const QPointF& position) const {
  return plot_->xAxis->pixelToCoord(position.x());
}

double LineChart::toScale(double x) const { return logX_ ? std::log(x) : x; }
double LineChart::fromScale(double x) const { return logX_ ? std::exp(x) : x; }

void LineChart::userShows(double from, double to) {
  setXRange(from, to);
  Q_EMIT xRangeChanged(from, to);
}

void LineChart::userShowsAll() {
  showAll();
  Q_EMIT allShown();
}

void LineChart::zoom(double factor, double around) {
  const Range shown = xRange();
  Range all = xExtent();
  if (!all.valid()) return;
  if (groupExtent_.valid() && !logX_) all.include(groupExtent_.low), all.include(groupExtent_.high);
  if (logX_ && !(around > 0)) return;
  const double from = fromScale(toScale(around) - (toScale(around) - toScale(shown.low)) / factor);
  const double to = fromScale(toScale(around) + (toScale(shown.high) - toScale(around)) / factor);
  if (from <= all.low && to >= all.high) return userShowsAll();
  if (to - from < 2 && xUnit_ == Unit::count) return;
  userShows(std::max(from, all.low), std::min(to, all.high));
}

void LineChart::pan(double share) {
  const Range shown = xRange();
  const Range all = xExtent();
  if (showsAll_ || !all.valid()) return;
  const double low = toScale(all.low), high = toScale(all.high);
  const double span = toScale(shown.high) - toScale(shown.low);
  const double from =
      std::clamp(toScale(shown.low) + share * span, low, std::max(low, high - span));
  userShows(fromScale(from), fromScale(from + span));
}

void LineChart::stepCrosshair(int samples) {
  std::vector<double> all;
  for (const Curve& curve : curves_)
    all.insert(all.end(), curve.series.x().begin(), curve.series.x().end());
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  if (all.empty()) return;
  const auto last = static_cast<ptrdiff_t>(all.size()) - 1;
  ptrdiff_t at = last;
  if (crosshair_)
    at = std::ranges::lower_bound(all, *sampleNear(*crosshair_)) - all.begin() + samples;
  moveCrosshair(all[static_cast<size_t>(std::clamp<ptrdiff_t>(at, 0, last))]);
}

void LineChart::releaseDrag(const QPoint& position) {
  const QPoint start = *dragStart_;
  dragStart_.reset();
  overlay_->setBand({});
  if (std::abs(position.x() - start.x()) < kDragDistance) return;
  const double a = xAt(start);
  const double b = xAt(position);
  const Range all = xRange();
  userShows(std::max(std::min(a, b), all.low), std::min(std::max(a, b), all.high));
}

bool LineChart::eventFilter(QObject* watched, QEvent* event) {
  if (watched != plot_) return Card::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::MouseMove: {
      const QPoint at = static_cast<QMouseEvent*>(event)->pos();
      if (dragStart_ && std::abs(at.x() - dragStart_->x()) >= kDragDistance) {
        overlay_->setBand(
            std::pair(std::min(at.x(), dragStart_->x()), std::max(at.x(), dragStart_->x())));
      }
      const bool inside = plot_->axisRect()->rect().contains(at);
      pointed_ = plot_->yAxis->pixelToCoord(at.y());
      moveCrosshair(inside && xExtent().valid() ? std::optional(xAt(at)) : std::nullopt);
      return true;
    }
    case QEvent::Leave:
      pointed_.reset();
      moveCrosshair({});
      break;
    case QEvent::ToolTip:
      if (crosshair_) return true;  // that speaks
      break;
    case QEvent::MouseButtonPress: {
      const auto* press = static_cast<QMouseEvent*>(event);
      setFocus(Qt::MouseFocusReason);
      if (press->button() == Qt::LeftButton) dragStart_ = press->pos();
      return true;
    }
    case QEvent::MouseButtonRelease:
      if (dragStart_) releaseDrag(static_cast<QMouseEvent*>(event)->pos());
      return true;
    case QEvent::MouseButtonDblClick:
      userShowsAll();
      return true;
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      if (!hasFocus() && !wheel->modifiers().testFlag(Qt::ControlModifier)) {
        event->ignore();  // the plot would take it
        return true;
      }
      if (wheel->angleDelta().y() == 0) break;
      zoom(std::pow(1.2, wheel->angleDelta().y() / 120.0), xAt(wheel->position()));
      return true;
    }
    default:
      break;
  }
  return Card::eventFilter(watched, event);
}

void LineChart::keyPressEvent(QKeyEvent* event) {
  const Range shown = xRange();
  const double middle = crosshair_.value_or((shown.low + shown.high) / 2);
  const int stride = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
    return Card::keyPressEvent(event);
  }
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
      return zoom(1.5, middle);
    case Qt::Key_S:
    case Qt::Key_Minus:
      return zoom(1 / 1.5, middle);
    case Qt::Key_A:
      return pan(-0.15);
    case Qt::Key_D:
      return pan(0.15);
    case Qt::Key_F:
      return userShowsAll();
    case Qt::Key_Left:
      pointed_.reset();
      return stepCrosshair(-stride);
    case Qt::Key_Right:
      pointed_.reset();
      return stepCrosshair(stride);
    case Qt::Key_Escape:
      if (!crosshair_) break;
      return moveCrosshair({});
    default:
      break;
  }
  Card::keyPressEvent(event);
}

KeyTable LineChart::keys() {
  return {tr("In a chart"),
          {{{Qt::Key_Left, Qt::Key_Right}, tr("Move the cursor a sample; with Shift ten")},
           {{Qt::Key_W, Qt::Key_Plus}, tr("Zoom in at the cursor"), tr("wheel")},
           {{Qt::Key_S, Qt::Key_Minus}, tr("Zoom out")},
           {{Qt::Key_A, Qt::Key_D}, tr("Move to the left and to the right")},
           {{Qt::Key_F}, tr("Show all"), tr("double click")},
           {{Qt::Key_Escape}, tr("Drop the cursor")}}};
}

void LineChart::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  redraw();
}

void LineChart::showEvent(QShowEvent* event) {
  Card::showEvent(event);
  redraw();
}

}  // namespace heddle::gui
