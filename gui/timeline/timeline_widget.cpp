#include "gui/timeline/timeline_widget.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/timeline_overlay.h"
#include "gui/timeline/timeline_painter.h"
#include "gui/widgets/more_below.h"

namespace heddle::gui {

TimelineWidget::TimelineWidget(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Timeline"));
  connect(&Theme::instance(), &Theme::changed, this, &TimelineWidget::invalidate);
  new MoreBelow(this, Qt::AlignLeft);  // over the rows' names
  describe();
}

void TimelineWidget::setRows(std::vector<TimelineRow> rows) {
  const bool fitted = axis_.showsAll();
  rows_ = std::move(rows);
  hovered_.reset();
  setCurrent({});
  lane_ = {};
  int64_t length = 1;
  for (const TimelineRow& row : rows_) {
    if (row.timeline) length = std::max(length, row.shiftUs + row.timeline->lengthUs());
  }
  axis_.lengthUs = static_cast<double>(length);
  if (fitted) {
    axis_.fit();
  } else {
    axis_.show(axis_.beginUs, axis_.endUs);
  }
  find();
  relayout();
  describe();
  Q_EMIT viewChanged();
}

void TimelineWidget::setPhaseBand(PhaseBand band) {
  band_ = band;
  relayout();
}

void TimelineWidget::setEmptyText(const QString& text) {
  emptyText_ = text;
  viewport()->update();
}

void TimelineWidget::setSearch(const QString& text) {
  setHighlight(text.isEmpty() ? SpanTest() : textTest(text));
}

void TimelineWidget::setHighlight(SpanTest test) {
  test_ = std::move(test);
  find();
  invalidate();
}

void TimelineWidget::find() {
  hits_ = test_ ? search(rows_, test_) : SearchHits();
  found_ = test_ ? findSpans(rows_, test_) : Found();
}

void TimelineWidget::showFound() {
  const auto length = static_cast<double>(found_.time.length());
  if (found_.count == 0 || length > axis_.lengthUs / 2) return fit();
  const double around = std::max(length, axis_.lengthUs / 50);
  axis_.show(std::max(0.0, static_cast<double>(found_.time.begin) - around),
             std::min(axis_.lengthUs, static_cast<double>(found_.time.end) + around));
  changeView();
}

void TimelineWidget::select(std::optional<Interval> range) {
  if (range && range->length() <= 0) range.reset();
  if (range == selection_) return;
  selection_ = range;
  viewport()->update();
  Q_EMIT selectionChanged();
}

Statistics TimelineWidget::statistics(size_t row) const {
  if (row >= rows_.size() || !rows_[row].timeline) return {};
  const TimelineRow& of = rows_[row];
  if (!selection_) return of.timeline->statistics();
  return of.timeline->statistics({selection_->begin - of.shiftUs, selection_->end - of.shiftUs});
}

void TimelineWidget::fit() {
  axis_.fit();
  changeView();
}

void TimelineWidget::zoomTo(const Interval& range) {
  axis_.show(static_cast<double>(range.begin), static_cast<double>(range.end));
  changeView();
}

QSize TimelineWidget::sizeHint() const {
  return {800, TimelineLayout::fullHeight(std::max<size_t>(rows_.size(), 1), band_)};
}

void TimelineWidget::relayout() {
  const QSize size = viewport()->size();
  layout_ = TimelineLayout::of(rows_.size(), band_, size);
  axis_.left = TimelineLayout::kLabelWidth;
  axis_.width =
      std::max(1, size.width() - TimelineLayout::kLabelWidth - TimelineLayout::kRightMargin);
  verticalScrollBar()->setRange(0, std::max(0, layout_.height - size.height()));
  verticalScrollBar()->setPageStep(size.height());
  verticalScrollBar()->setSingleStep(24);
  invalidate();
}

void TimelineWidget::invalidate() {
  stale_ = true;
  viewport()->update();
}

void TimelineWidget::changeView() {
  hovered_ = pointer_ ? spanAt(*pointer_) : std::nullopt;
  invalidate();
  Q_EMIT viewChanged();
}

void TimelineWidget::paintEvent(QPaintEvent*) {
  const TimelineScene scene{
      rows_, layout_, axis_, hits_, viewport()->size(), verticalScrollBar()->value()};
  QPainter painter(viewport());
  if (rows_.empty()) {
    painter.fillRect(viewport()->rect(), colors().surface);
    painter.setFont(font::text());
    painter.setPen(colors().muted);
    painter.drawText(viewport()->rect().adjusted(24, 0, -24, 0), Qt::AlignCenter | Qt::TextWordWrap,
                     emptyText_);
    return;
  }
  // The picture is made for the device that is painted on: a screen, or a grab at another scale.
  const qreal ratio = painter.device()->devicePixelRatioF();
  if (stale_ || picture_.devicePixelRatio() != ratio) {
    picture_ = QPixmap(scene.size * ratio);
    picture_.setDevicePixelRatio(ratio);
    QPainter picture(&picture_);
    paintTimeline(picture, scene);
    stale_ = false;
  }
  painter.drawPixmap(0, 0, picture_);
  paintOverlay(painter, scene, {selection_, current_, hovered_, pointer_});
  if (hasFocus()) {
    painter.setPen(QPen(colors().accent, 1));
    painter.drawLine(0, 0, viewport()->width(), 0);
  }
}

void TimelineWidget::resizeEvent(QResizeEvent*) {
  relayout();
  Q_EMIT viewChanged();
}

void TimelineWidget::scrollContentsBy(int, int) { invalidate(); }

double TimelineWidget::pointerX() const {
  return pointer_ ? pointer_->x() : axis_.left + axis_.width / 2;
}

void TimelineWidget::keyPressEvent(QKeyEvent* event) {
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
    return QAbstractScrollArea::keyPressEvent(event);
  }
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
      axis_.zoom(1.5, pointerX());
      return changeView();
    case Qt::Key_S:
    case Qt::Key_Minus:
      axis_.zoom(1 / 1.5, pointerX());
      return changeView();
    case Qt::Key_A:
    case Qt::Key_Left:
      axis_.pan(-0.15);
      return changeView();
    case Qt::Key_D:
    case Qt::Key_Right:
      axis_.pan(0.15);
      return changeView();
    case Qt::Key_F:
      return selection_ && axis_.showsAll() ? zoomTo(*selection_) : fit();
    case Qt::Key_Period:
      return stepSpan(1);
    case Qt::Key_Comma:
      return stepSpan(-1);
    case Qt::Key_Up:
      return stepLane(-1);
    case Qt::Key_Down:
      return stepLane(1);
    case Qt::Key_Escape:
      if (!selection_ && !current_) break;
      select({});
      return setCurrent({});
    default:
      break;
  }
  QAbstractScrollArea::keyPressEvent(event);
}

void TimelineWidget::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  const bool sideways =
      event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(delta.x()) > std::abs(delta.y());
  const bool zooms = event->modifiers().testFlag(Qt::ControlModifier) ||
                     (verticalScrollBar()->maximum() == 0 && !sideways);
  if (sideways) {
    const int turn = delta.x() != 0 ? delta.x() : delta.y();
    axis_.pan(-turn / 120.0 * 0.1);
    changeView();
  } else if (zooms) {
    axis_.zoom(std::pow(1.2, delta.y() / 120.0), event->position().x());
    changeView();
  } else {
    return QAbstractScrollArea::wheelEvent(event);
  }
  event->accept();
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  pressedUs_ = axis_.toTime(event->pos().x());
  const bool onTimes = event->pos().x() >= TimelineLayout::kLabelWidth;
  if (event->button() == Qt::LeftButton && onTimes) drag_ = Drag::select;
  if (event->button() == Qt::MiddleButton) drag_ = Drag::pan;
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  constexpr int kDragDistance = 4;
  if (drag_ == Drag::select && std::abs(event->pos().x() - pressed_.x()) >= kDragDistance) {
    const double to = std::clamp(axis_.toTime(event->pos().x()), 0.0, axis_.lengthUs);
    const double from = std::clamp(pressedUs_, 0.0, axis_.lengthUs);
    select(Interval{std::llround(std::min(from, to)), std::llround(std::max(from, to))});
  } else if (drag_ == Drag::pan) {
    const double span = axis_.endUs - axis_.beginUs;
    const double begin = pressedUs_ - (event->pos().x() - axis_.left) * axis_.usPerPixel();
    const double kept = std::clamp(begin, 0.0, std::max(0.0, axis_.lengthUs - span));
    axis_.show(kept, kept + span);
    return changeView();
  }
  hovered_ = drag_ == Drag::none ? spanAt(event->pos()) : std::nullopt;
  viewport()->update();
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = (event->pos() - pressed_).manhattanLength() < 4;
  if (drag_ == Drag::select && click) {
    select({});
    if (const auto lane = laneAt(event->pos())) lane_ = *lane;
    setCurrent(spanAt(event->pos()));
  }
  drag_ = Drag::none;
}

bool TimelineWidget::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    pointer_.reset();
    hovered_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

std::optional<LaneRef> TimelineWidget::laneAt(QPoint position) const {
  if (position.y() < TimelineLayout::kAxisHeight) return {};
  const QPoint at = position + QPoint(0, verticalScrollBar()->value());
  for (size_t row = 0; row < layout_.rows.size(); ++row) {
    for (const Stream stream : {Stream::compute, Stream::communication}) {
      if (layout_.rows[row].lanes[static_cast<size_t>(stream)].contains(at)) {
        return LaneRef{row, stream};
      }
    }
  }
  return {};
}

std::optional<SpanRef> TimelineWidget::spanAt(QPoint position) const {
  const auto lane = laneAt(position);
  if (!lane || !rows_[lane->row].timeline) return {};
  const TimelineRow& row = rows_[lane->row];
  // Half a pixel to either side still counts: narrow spans are painted a pixel wide.
  for (const double x : {0.0, 0.5, -0.5, 1.0, -1.0}) {
    const auto time = static_cast<int64_t>(std::floor(axis_.toTime(position.x() + x)));
    const int64_t span = row.timeline->lane(lane->stream).spanAt(time - row.shiftUs);
    if (span >= 0) return SpanRef{*lane, static_cast<size_t>(span)};
  }
  return {};
}

void TimelineWidget::setCurrent(std::optional<SpanRef> span) {
  if (span == current_) return;
  current_ = span;
  describe();
  viewport()->update();
  Q_EMIT currentChanged();
}

void TimelineWidget::stepSpan(int direction) {
  if (lane_.row >= rows_.size() || !rows_[lane_.row].timeline) return;
  const TimelineRow& row = rows_[lane_.row];
  const auto& spans = row.timeline->lane(lane_.stream).spans();
  if (spans.empty()) return;
  const auto last = static_cast<int64_t>(spans.size()) - 1;
  int64_t index = 0;
  if (current_ && current_->lane == lane_) {
    index = static_cast<int64_t>(current_->span) + direction;
  } else {
    const auto begin = static_cast<int64_t>(axis_.beginUs) - row.shiftUs;
    index =
        std::lower_bound(spans.begin(), spans.end(), begin,
                         [](const telemetry::Span& s, int64_t time) { return s.start_us < time; }) -
        spans.begin();
  }
  const SpanRef next{lane_, static_cast<size_t>(std::clamp<int64_t>(index, 0, last))};
  setCurrent(next);
  bringIntoView(next);
}

void TimelineWidget::stepLane(int direction) {
  if (rows_.empty()) return;
  const int lanes = static_cast<int>(rows_.size()) * 2;
  const int index = static_cast<int>(lane_.row) * 2 + static_cast<int>(lane_.stream);
  const int next = std::clamp(index + direction, 0, lanes - 1);
  lane_ = {static_cast<size_t>(next / 2), static_cast<Stream>(next % 2)};
  setCurrent({});
  stepSpan(0);
}

void TimelineWidget::bringIntoView(const SpanRef& ref) {
  const TimelineRow& row = rows_[ref.lane.row];
  const telemetry::Span& span = row.timeline->lane(ref.lane.stream).spans()[ref.span];
  const auto begin = static_cast<double>(span.start_us + row.shiftUs);
  const auto end = begin + static_cast<double>(span.duration_us);
  if (begin < axis_.beginUs || end > axis_.endUs) {
    const double view = axis_.endUs - axis_.beginUs;
    const double from = std::clamp((begin + end - view) / 2, 0.0, axis_.lengthUs - view);
    axis_.show(from, from + view);
    changeView();
  }
  const QRect lane = layout_.rows[ref.lane.row].lanes[static_cast<size_t>(ref.lane.stream)];
  const int scroll = verticalScrollBar()->value();
  if (lane.bottom() - scroll > viewport()->height()) {
    verticalScrollBar()->setValue(lane.bottom() - viewport()->height() + 8);
  } else if (lane.top() - scroll < TimelineLayout::kAxisHeight) {
    verticalScrollBar()->setValue(lane.top() - TimelineLayout::kAxisHeight - 8);
  }
}

void TimelineWidget::describe() {
  QString text = rows_.empty() ? emptyText_ : describeRows(rows_);
  if (current_) {
    const SpanText span = describeSpan(rows_, *current_);
    text = span.title + QStringLiteral(", ") + span.lines.join(QStringLiteral(", ")) +
           (span.exposed.isEmpty() ? QString() : QStringLiteral(", ") + span.exposed) +
           QStringLiteral(". ") + text;
  }
  setAccessibleDescription(text);
}

}  // namespace heddle::gui
