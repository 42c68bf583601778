#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/timeline/timeline_widget.h"

// A timeline's keys, wheel and mouse.
namespace heddle::gui {
namespace {

constexpr double kKeyZoom = 1.5, kKeyPan = 0.15;      // a press
constexpr double kWheelZoom = 1.2, kWheelPan = 0.10;  // a notch

}  // namespace

double TimelineWidget::pointerX() const {
  return pointer_ ? pointer_->x() : axis_.left + axis_.width / 2;
}

void TimelineWidget::keyPressEvent(QKeyEvent* event) {
  if (!key(*event)) QAbstractScrollArea::keyPressEvent(event);
}

bool TimelineWidget::key(const QKeyEvent& event) {
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
  const double x = pointerX();
  switch (event.key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
      moveView([x](TimeAxis& axis) { axis.zoom(kKeyZoom, x); });
      return true;
    case Qt::Key_S:
    case Qt::Key_Minus:
      moveView([x](TimeAxis& axis) { axis.zoom(1 / kKeyZoom, x); });
      return true;
    case Qt::Key_A:
    case Qt::Key_Left:
      moveView([](TimeAxis& axis) { axis.pan(-kKeyPan); });
      return true;
    case Qt::Key_D:
    case Qt::Key_Right:
      moveView([](TimeAxis& axis) { axis.pan(kKeyPan); });
      return true;
    case Qt::Key_F:
      selection_&& axis_.showsAll() ? zoomTo(*selection_) : fit();
      return true;
    case Qt::Key_Backspace:
      shift ? goForward() : goBack();
      return true;
    case Qt::Key_Period:
      stepSpan(1);
      return true;
    case Qt::Key_Comma:
      stepSpan(-1);
      return true;
    case Qt::Key_N:
      goToMatch(shift ? -1 : 1);
      return true;
    case Qt::Key_Slash:
      Q_EMIT searchWanted();
      return true;
    case Qt::Key_Up:
      stepLane(-1);
      return true;
    case Qt::Key_Down:
      stepLane(1);
      return true;
    case Qt::Key_Escape:
      if (!selection_ && !current_) return false;
      select({});
      setCurrent({});
      return true;
    default:
      return laneKey(event.key(), shift);
  }
}

KeyTable TimelineWidget::keys() {
  const Qt::Modifier shift = Qt::SHIFT;
  return {tr("In a timeline"),
          {{{Qt::Key_W, Qt::Key_Plus}, tr("Zoom in at the pointer"), tr("Ctrl+wheel")},
           {{Qt::Key_S, Qt::Key_Minus}, tr("Zoom out")},
           {{Qt::Key_A, Qt::Key_Left}, tr("Move to the left"), tr("Shift+wheel")},
           {{Qt::Key_D, Qt::Key_Right}, tr("Move to the right")},
           {{Qt::Key_F}, tr("Show the selection, or all")},
           {{Qt::Key_Backspace, shift | Qt::Key_Backspace}, tr("The view before, the next view")},
           {{Qt::Key_Up, Qt::Key_Down}, tr("The lane above, the lane below")},
           {{Qt::Key_Comma, Qt::Key_Period}, tr("The span before, the next span"), tr("click")},
           {{Qt::Key_Slash}, tr("Find an operator or module")},
           {{Qt::Key_N, shift | Qt::Key_N}, tr("The next match, the match before")},
           {{Qt::Key_P, Qt::Key_C, Qt::Key_H}, tr("Pin, collapse, hide the row")},
           {{shift | Qt::Key_C, shift | Qt::Key_H}, tr("Collapse all rows, show all rows")},
           {{Qt::Key_M}, tr("Memory and bytes in flight")},
           {{Qt::Key_K}, tr("The critical path")},
           {{Qt::Key_Escape},
            tr("Drop the selection"),
            tr("drag selects, from edge to edge of spans")}}};
}

void TimelineWidget::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const auto row = byKey ? std::optional(lane_.row) : rowAt(event->pos());
  if (row && *row < rows_.size()) setCurrentRow(*row);
  const QPoint at = byKey ? viewport()->mapToGlobal(
                                QPoint(TimelineLayout::kLabelWidth, TimelineLayout::kAxisHeight))
                          : event->globalPos();
  Q_EMIT menuWanted(at, row);
}

void TimelineWidget::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  const bool sideways =
      event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(delta.x()) > std::abs(delta.y());
  const bool zooms = event->modifiers().testFlag(Qt::ControlModifier) ||
                     (verticalScrollBar()->maximum() == 0 && !sideways);
  if (sideways) {
    const int turn = delta.x() != 0 ? delta.x() : delta.y();
    moveView([turn](TimeAxis& axis) { axis.pan(-turn / 120.0 * kWheelPan); });
  } else if (zooms) {
    const double factor = std::pow(kWheelZoom, delta.y() / 120.0), x = event->position().x();
    moveView([factor, x](TimeAxis& axis) { axis.zoom(factor, x); });
  } else {
    return QAbstractScrollArea::wheelEvent(event);
  }
  event->accept();
}

double TimelineWidget::edgeAt(QPoint position) const {
  constexpr int kNear = 4;      // pixels
  constexpr int kMaxSpans = 8;  // that may reach to there: transfers overlap
  const double there = axis_.toTime(position.x());
  const auto lane = laneAt(position);
  if (!lane || !rows_[lane->row].timeline) return there;
  const auto& spans = rows_[lane->row].timeline->lane(lane->stream).spans();
  const double shift = static_cast<double>(rows_[lane->row].shiftUs);
  double found = there, least = kNear * axis_.usPerPixel();
  const auto look = [&](int64_t edge) {
    const double at = static_cast<double>(edge) + shift;
    if (std::abs(at - there) <= least) least = std::abs(at - there), found = at;
  };
  const auto after = std::ranges::upper_bound(spans, static_cast<int64_t>(there - shift), {},
                                              &telemetry::Span::start_us);
  if (after != spans.end()) look(after->start_us);
  for (auto span = after; span != spans.begin() && after - span < kMaxSpans;) {
    --span;
    look(span->start_us);
    look(span->start_us + span->duration_us);
  }
  return found;
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  pressedUs_ =
      event->button() == Qt::LeftButton ? edgeAt(event->pos()) : axis_.toTime(event->pos().x());
  const bool onTimes = event->pos().x() >= TimelineLayout::kLabelWidth;
  if (event->button() == Qt::LeftButton && onTimes) drag_ = Drag::select;
  if (event->button() == Qt::LeftButton)
    if (const auto row = rowAt(event->pos())) setCurrentRow(*row);
  if (event->button() == Qt::MiddleButton) drag_ = Drag::pan;
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  constexpr int kDragDistance = 4;
  if (drag_ == Drag::select && std::abs(event->pos().x() - pressed_.x()) >= kDragDistance) {
    const double to = std::clamp(edgeAt(event->pos()), 0.0, axis_.lengthUs);
    const double from = std::clamp(pressedUs_, 0.0, axis_.lengthUs);
    select(Interval{std::llround(std::min(from, to)), std::llround(std::max(from, to))});
  } else if (drag_ == Drag::pan) {
    const double span = axis_.endUs - axis_.beginUs;
    const double begin = pressedUs_ - (event->pos().x() - axis_.left) * axis_.usPerPixel();
    const double kept = std::clamp(begin, 0.0, std::max(0.0, axis_.lengthUs - span));
    return moveView([kept, span](TimeAxis& axis) { axis.show(kept, kept + span); });
  }
  hovered_ = drag_ == Drag::none ? spanAt(event->pos()) : std::nullopt;
  viewport()->update();
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = (event->pos() - pressed_).manhattanLength() < 4;
  const bool selected = std::exchange(drag_, Drag::none) == Drag::select;
  if (selected && click) {
    select({});
    if (const auto lane = laneAt(event->pos())) lane_ = *lane;
    viewport()->update();
    setCurrent(spanAt(event->pos()));
  } else if (selected) {
    Q_EMIT selectionChanged();  // for those who wait for its end
  }
}

bool TimelineWidget::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    pointer_.reset();
    hovered_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

// Qt repaints only the frame, but the viewport shows the focus.
void TimelineWidget::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void TimelineWidget::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

}  // namespace heddle::gui
