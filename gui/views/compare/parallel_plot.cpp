#include "gui/views/compare/parallel_plot.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kSideRoom = 56, kTopRoom = 30, kBottomRoom = 26;
constexpr double kBrushWidth = 12, kMinBrush = 0.01;
constexpr double kDimmed = 0.22;  // of a line's colour, where others are brushed
constexpr double kNear = 5;       // pixels to a line that is pointed at

}  // namespace

ParallelPlot::ParallelPlot(QWidget* parent)
    : RelationPlot(QStringLiteral("parallelPlot"), tr("Parallel coordinates"), parent) {}

KeyTable ParallelPlot::keys() {
  return {
      tr("In parallel coordinates"),
      {{{Qt::Key_Left, Qt::Key_Right}, tr("Go to another axis")},
       {{Qt::Key_Up, Qt::Key_Down}, tr("Keep the upper or lower half of its brush"), tr("drag")},
       {{Qt::Key_Escape}, tr("Drop all brushes")}}};
}

void ParallelPlot::display(std::vector<PlottedRun> runs, std::vector<ValueAxis> axes,
                           QStringList notes) {
  setRuns(std::move(runs));
  axes_ = std::move(axes);
  notes_ = std::move(notes);
  std::erase_if(brushes_, [this](const auto& brush) {
    return std::ranges::find(axes_, brush.first, &ValueAxis::name) == axes_.end();
  });
  current_ = axes_.empty() ? 0 : std::min(current_, axes_.size() - 1);
  describe();
  update();
}

QRectF ParallelPlot::plot() const {
  return QRectF(rect()).adjusted(kSideRoom, kTopRoom, -kSideRoom, -kBottomRoom);
}

double ParallelPlot::xOf(size_t axis) const {
  const QRectF room = plot();
  if (axes_.size() < 2) return room.center().x();
  return room.left() +
         room.width() * static_cast<double>(axis) / static_cast<double>(axes_.size() - 1);
}

double ParallelPlot::yOf(double place) const { return plot().bottom() - place * plot().height(); }

double ParallelPlot::placeAt(double y) const {
  return std::clamp((plot().bottom() - y) / plot().height(), 0.0, 1.0);
}

size_t ParallelPlot::axisAt(double x) const {
  size_t nearest = 0;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    if (std::abs(xOf(axis) - x) < std::abs(xOf(nearest) - x)) nearest = axis;
  return nearest;
}

bool ParallelPlot::isInside(size_t run) const {
  for (const ValueAxis& axis : axes_) {
    const auto brush = brushes_.find(axis.name);
    if (brush == brushes_.end()) continue;
    const auto& place = axis.places[run];
    if (!place || *place < brush->second.low || *place > brush->second.high) return false;
  }
  return true;
}

void ParallelPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (axes_.empty()) return;
  paintRuns([&](size_t run, bool bright) { paintRun(painter, run, bright); });
  for (size_t axis = 0; axis < axes_.size(); ++axis) paintAxis(painter, axis);
}

void ParallelPlot::paintRun(QPainter& painter, size_t run, bool bright) const {
  const QColor color = bright ? runs()[run].stroke.color
                              : blend(colors().surface, runs()[run].stroke.color, kDimmed);
  painter.setPen(QPen(color, runs()[run].highlighted ? 2 : 1));
  std::optional<QPointF> before;
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    const auto& place = axes_[axis].places[run];
    // A run without a value there has a gap.
    const auto point = place ? std::optional(QPointF(xOf(axis), yOf(*place))) : std::nullopt;
    if (before && point) painter.drawLine(*before, *point);
    before = point;
  }
}

void ParallelPlot::paintAxis(QPainter& painter, size_t index) const {
  const Colors& c = colors();
  const ValueAxis& axis = axes_[index];
  const double x = std::floor(xOf(index)) + 0.5;
  const bool current = hasFocus() && index == current_;
  painter.setPen(QPen(current ? c.accent : c.muted, current ? 2 : 1));
  painter.drawLine(QPointF(x, plot().top()), QPointF(x, plot().bottom()));
  if (const auto brush = brushes_.find(axis.name); brush != brushes_.end()) {
    const QRectF box(QPointF(x - kBrushWidth / 2, yOf(brush->second.high)),
                     QPointF(x + kBrushWidth / 2, yOf(brush->second.low)));
    QColor fill = c.accent;
    fill.setAlphaF(0.3f);
    painter.fillRect(box, fill);
    painter.setPen(c.accent);
    painter.drawRect(box);
  }
  painter.setFont(font::caption());
  const double spacing =
      axes_.size() > 1 ? plot().width() / static_cast<double>(axes_.size() - 1) : plot().width();
  const int wide = static_cast<int>(std::min(spacing, 2.0 * kSideRoom)) - 8;
  double last = INFINITY;
  for (const ValueAxis::Tick& tick : axis.ticks) {
    const double y = yOf(tick.place);
    painter.setPen(c.muted);
    painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y));
    if (last - y < painter.fontMetrics().height()) continue;
    last = y;
    const QString text = painter.fontMetrics().elidedText(tick.text, Qt::ElideMiddle, wide - 4);
    const QRectF room(x + 6, y - 8, painter.fontMetrics().horizontalAdvance(text) + 2, 16);
    QColor ground = c.surface;
    ground.setAlphaF(0.75f);
    painter.fillRect(room, ground);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, text);
  }
  painter.setPen(c.text);
  const auto centred = [&](double y, const QString& text) {
    painter.drawText(QRectF(x - wide / 2.0, y, wide, 18), Qt::AlignCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideMiddle, wide));
  };
  centred(6, titleOf(axis));
  painter.setPen(c.muted);
  if (static_cast<qsizetype>(index) < notes_.size())
    centred(plot().bottom() + 6, notes_[static_cast<qsizetype>(index)]);
}

/// The axes and the chosen one, or how many runs the brushes keep.
void ParallelPlot::describe() {
  if (!brushes_.empty()) {
    qint64 inside = 0;
    for (size_t run = 0; run < runs().size(); ++run)
      if (!runs()[run].hidden && isInside(run)) ++inside;
    return setAccessibleDescription(
        tr("%1 of %2 runs are inside the brushes").arg(inside).arg(runs().size()));
  }
  QStringList names;
  for (const ValueAxis& axis : axes_) names << titleOf(axis);
  setAccessibleDescription(axes_.empty() ? tr("No axes")
                                         : tr("%1. %2 runs over %3")
                                               .arg(axes_[current_].name)
                                               .arg(runs().size())
                                               .arg(names.join(QStringLiteral(", "))));
}

void ParallelPlot::report() {
  QSet<qint64> inside;
  if (!brushes_.empty())
    for (size_t run = 0; run < runs().size(); ++run)
      if (!runs()[run].hidden && isInside(run)) inside.insert(runs()[run].id);
  describe();
  update();
  Q_EMIT brushed(inside);
}

void ParallelPlot::keyPressEvent(QKeyEvent* event) {
  if (axes_.empty()) return QWidget::keyPressEvent(event);
  const QString name = axes_[current_].name;
  const auto halve = [&](bool upper) {
    Brush& brush = brushes_[name];
    const double middle = (brush.low + brush.high) / 2;
    (upper ? brush.low : brush.high) = middle;
    report();
  };
  switch (event->key()) {
    case Qt::Key_Left:
      current_ = current_ > 0 ? current_ - 1 : 0;
      break;
    case Qt::Key_Right:
      current_ = std::min(current_ + 1, axes_.size() - 1);
      break;
    case Qt::Key_Up:
      return halve(true);
    case Qt::Key_Down:
      return halve(false);
    case Qt::Key_Escape:
      brushes_.clear();
      return report();
    default:
      return QWidget::keyPressEvent(event);
  }
  describe();
  update();
}

void ParallelPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || axes_.empty()) return;
  current_ = axisAt(event->position().x());
  pressed_ = placeAt(event->position().y());
}

void ParallelPlot::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_) return;
  const double place = placeAt(event->position().y());
  brushes_[axes_[current_].name] = {std::min(*pressed_, place), std::max(*pressed_, place)};
  update();
}

/// A click without a drag drops the axis's brush.
void ParallelPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return;
  const double place = placeAt(event->position().y());
  if (std::abs(place - *pressed_) < kMinBrush) brushes_.erase(axes_[current_].name);
  pressed_.reset();
  report();
}

bool ParallelPlot::isAt(size_t run, const QPointF& place) const {
  for (size_t axis = 0; axis + 1 < axes_.size(); ++axis) {
    const auto &left = axes_[axis].places[run], &right = axes_[axis + 1].places[run];
    if (!left || !right || place.x() < xOf(axis) || place.x() > xOf(axis + 1)) continue;
    const double share = (place.x() - xOf(axis)) / (xOf(axis + 1) - xOf(axis));
    if (std::abs(yOf(*left + (*right - *left) * share) - place.y()) < kNear) return true;
  }
  return false;
}

}  // namespace heddle::gui
