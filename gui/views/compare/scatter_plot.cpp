#include "gui/views/compare/scatter_plot.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kLeftRoom = 76, kRightRoom = 24, kUpperRoom = 26, kLowerRoom = 40;
constexpr double kPointed = 7;  // pixels

}  // namespace

ScatterPlot::ScatterPlot(QWidget* parent)
    : RelationPlot(QStringLiteral("scatterPlot"), tr("Scatter"), parent),
      band_(new QRubberBand(QRubberBand::Rectangle, this)) {}

KeyTable ScatterPlot::keys() {
  return {tr("In a scatter plot"),
          {{{Qt::Key_Left, Qt::Key_Right}, tr("Go to the next run along x")},
           {{Qt::Key_Space}, tr("Highlight it"), tr("drag")},
           {{Qt::Key_Escape}, tr("Highlight none")}}};
}

void ScatterPlot::display(std::vector<PlottedRun> runs, ValueAxis x, ValueAxis y) {
  setRuns(std::move(runs));
  x_ = std::move(x);
  y_ = std::move(y);
  if (current_ && *current_ >= RelationPlot::runs().size()) current_.reset();
  describe();
  update();
}

QRectF ScatterPlot::plot() const {
  return QRectF(rect()).adjusted(kLeftRoom, kUpperRoom, -kRightRoom, -kLowerRoom);
}

std::optional<QPointF> ScatterPlot::pointOf(size_t run) const {
  if (runs()[run].hidden || !x_.places[run] || !y_.places[run]) return std::nullopt;
  const QRectF room = plot();
  return QPointF(room.left() + *x_.places[run] * room.width(),
                 room.bottom() - *y_.places[run] * room.height());
}

void ScatterPlot::paintEvent(QPaintEvent*) {
  if (runs().empty()) return;
  const Colors& c = colors();
  QPainter painter(this);
  paintAxes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  paintRuns([&](size_t run, bool bright) {
    const auto point = pointOf(run);
    if (!point) return;
    painter.save();
    painter.translate(*point);
    painter.scale(1.5, 1.5);
    const RunStroke& stroke = runs()[run].stroke;
    painter.fillPath(markerPath(std::max(0, stroke.marker)),
                     bright ? stroke.color : blend(c.surface, stroke.color, 0.3));
    painter.restore();
    const bool current = hasFocus() && current_ == run;
    if (!current && !runs()[run].highlighted) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(current ? c.accent : c.text, 1.5));
    painter.drawEllipse(*point, 8, 8);
  });
}

void ScatterPlot::paintAxes(QPainter& painter) const {
  const Colors& c = colors();
  const QRectF room = plot();
  painter.setFont(font::caption());
  const QFontMetrics metrics = painter.fontMetrics();
  double free = -INFINITY;  // labels do not meet
  for (const ValueAxis::Tick& tick : x_.ticks) {
    const double x = std::floor(room.left() + tick.place * room.width()) + 0.5;
    painter.setPen(blend(c.surface, c.line, 0.6));
    painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()));
    const double half = metrics.horizontalAdvance(tick.text) / 2.0;
    if (x - half < free) continue;
    free = x + half + 8;
    painter.setPen(c.muted);
    painter.drawText(QRectF(x - half - 1, room.bottom() + 4, 2 * half + 2, 16), Qt::AlignCenter,
                     tick.text);
  }
  for (const ValueAxis::Tick& tick : y_.ticks) {
    const double y = std::floor(room.bottom() - tick.place * room.height()) + 0.5;
    painter.setPen(blend(c.surface, c.line, 0.6));
    painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y));
    painter.setPen(c.muted);
    painter.drawText(QRectF(0, y - 8, kLeftRoom - 6, 16), Qt::AlignVCenter | Qt::AlignRight,
                     metrics.elidedText(tick.text, Qt::ElideMiddle, kLeftRoom - 10));
  }
  painter.setPen(c.text);
  painter.drawText(QRectF(room.left(), room.bottom() + 20, room.width(), 18), Qt::AlignCenter,
                   titleOf(x_));
  painter.drawText(QRectF(6, 4, room.right(), 18), Qt::AlignVCenter | Qt::AlignLeft, titleOf(y_));
}

/// Along x, then y; the order in which a person reads them.
void ScatterPlot::step(int direction) {
  std::vector<size_t> order;
  for (size_t run = 0; run < runs().size(); ++run)
    if (pointOf(run)) order.push_back(run);
  if (order.empty()) return;
  std::ranges::sort(order, {},
                    [this](size_t run) { return std::pair(*x_.places[run], *y_.places[run]); });
  const auto at = current_ ? std::ranges::find(order, *current_) : order.end();
  const auto last = static_cast<ptrdiff_t>(order.size()) - 1;
  const ptrdiff_t next = at == order.end()
                             ? (direction > 0 ? 0 : last)
                             : std::clamp<ptrdiff_t>((at - order.begin()) + direction, 0, last);
  current_ = order[static_cast<size_t>(next)];
  describe();
  update();
}

/// The chosen run or the axes.
void ScatterPlot::describe() {
  setAccessibleDescription(
      current_ ? runs()[*current_].name
               : tr("%1 runs, %2 over %3").arg(runs().size()).arg(titleOf(y_), titleOf(x_)));
}

void ScatterPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return step(-1);
    case Qt::Key_Right:
      return step(1);
    case Qt::Key_Space:
      if (current_) Q_EMIT brushed({runs()[*current_].id});
      return;
    case Qt::Key_Escape:
      return Q_EMIT brushed({});
    default:
      return QWidget::keyPressEvent(event);
  }
}

void ScatterPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = event->pos();
  band_->setGeometry(QRect(pressed_, QSize()));
  band_->show();
}

void ScatterPlot::mouseMoveEvent(QMouseEvent* event) {
  if (band_->isVisible()) band_->setGeometry(QRect(pressed_, event->pos()).normalized());
}

void ScatterPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (!band_->isVisible()) return;
  band_->hide();
  // A click is a small rectangle around the place.
  const QRectF box = QRectF(QRect(pressed_, event->pos()).normalized())
                         .adjusted(-kPointed, -kPointed, kPointed, kPointed);
  QSet<qint64> inside;
  for (size_t run = 0; run < runs().size(); ++run)
    if (const auto point = pointOf(run); point && box.contains(*point))
      inside.insert(runs()[run].id);
  Q_EMIT brushed(inside);
}

bool ScatterPlot::isAt(size_t run, const QPointF& place) const {
  const auto point = pointOf(run);
  return point && QLineF(*point, place).length() < kPointed;
}

}  // namespace heddle::gui
