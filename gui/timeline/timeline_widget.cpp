#include "gui/timeline/timeline_widget.h"

#include <QPainter>
#include <QScrollBar>
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
  path_.clear();
  hovered_.reset();
  setCurrent({});
  lane_ = lane_.row < rows_.size() ? LaneRef{lane_.row, lane_.stream} : LaneRef{};
  int64_t length = 1;
  for (const TimelineRow& row : rows_) {
    if (row.timeline) length = std::max(length, row.shiftUs + row.timeline->lengthUs());
  }
  axis_.lengthUs = static_cast<double>(length);
  counterTops_.clear();
  for (const TimelineRow& row : rows_)
    for (const auto& counter : row.counters) {
      double& top = counterTops_[counter->name];
      top = std::max(top, counter->most());
    }
  if (fitted) {
    axis_.fit();
  } else {
    axis_.show(axis_.beginUs, axis_.endUs);
  }
  find();
  relayout();
  describe();
  Q_EMIT rowsChanged();
  Q_EMIT viewChanged();
}

std::vector<TimelineRow> TimelineWidget::shownRows() const {
  std::vector<TimelineRow> shown;
  for (size_t row = 0; row < rows_.size(); ++row)
    if (showsRow(row)) shown.push_back(rows_[row]);
  return shown;
}

void TimelineWidget::setPhaseBand(PhaseBand band) {
  band_ = band;
  relayout();
}

void TimelineWidget::setLanes(const LaneChoice& lanes) {
  if (lanes == lanes_) return;
  lanes_ = lanes;
  find();
  relayout();
  if (const auto shown = shownLanes(); !shown.empty() && !std::ranges::count(shown, lane_))
    lane_ = shown.front();
  Q_EMIT lanesChanged();
}

void TimelineWidget::setPath(std::vector<PathMark> path) {
  path_ = std::move(path);
  invalidate();
}

void TimelineWidget::paintPicture(QPainter& painter) {
  const TimelineScene scene = this->scene();
  paintTimeline(painter, scene);
  paintAxis(painter, scene, {});
}

void TimelineWidget::setEmptyText(const QString& text) {
  emptyText_ = text;
  viewport()->update();
}

void TimelineWidget::setSearch(const QString& text) {
  setHighlight(text.isEmpty() ? SpanTest() : textTest(text), Tested::everyLabel);
}

void TimelineWidget::setHighlight(SpanTest test, Tested tested) {
  test_ = std::move(test);
  tested_ = tested;
  find();
  invalidate();
}

void TimelineWidget::find() {
  const auto shows = [this](const LaneRef& lane) {
    return showsRow(lane.row) && lanes_.streams[static_cast<size_t>(lane.stream)];
  };
  found_ = test_ ? Found(rows_, test_, tested_, shows) : Found();
  Q_EMIT foundChanged();
}

int64_t TimelineWidget::match() const {
  return current_ && found_.has(*current_) ? found_.before(*current_) + 1 : 0;
}

void TimelineWidget::goToMatch(int direction) {
  if (matches() == 0) return;
  int64_t next = direction > 0 ? 0 : matches() - 1;
  if (current_) {
    next = found_.before(*current_) + (direction < 0 ? -1 : found_.has(*current_) ? 1 : 0);
    next = (next + matches()) % matches();
  }
  const SpanRef span = found_.at(next);
  lane_ = span.lane;
  setCurrent(span);
  bringIntoView(span);
}

void TimelineWidget::showFound() {
  const Interval& time = found_.time();
  const auto length = static_cast<double>(time.length());
  if (matches() == 0 || length > axis_.lengthUs / 2) return fit();
  const double around = std::max(length, axis_.lengthUs / 50);
  rememberView();
  axis_.show(std::max(0.0, static_cast<double>(time.begin) - around),
             std::min(axis_.lengthUs, static_cast<double>(time.end) + around));
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
  rememberView();
  axis_.fit();
  changeView();
}

void TimelineWidget::rememberView() {
  history_.leave({axis_.beginUs, axis_.endUs});
  sinceMove_.invalidate();
}

void TimelineWidget::showView(const std::optional<ZoomHistory::View>& view) {
  if (!view) return;
  sinceMove_.invalidate();
  axis_.show(view->beginUs, view->endUs);
  changeView();
}

void TimelineWidget::goBack() { showView(history_.back({axis_.beginUs, axis_.endUs})); }

void TimelineWidget::goForward() { showView(history_.forward({axis_.beginUs, axis_.endUs})); }

void TimelineWidget::moveView(const std::function<void(TimeAxis&)>& move) {
  constexpr qint64 kOneMove = 600;  // ms: what follows sooner goes on with the same move
  if (!sinceMove_.isValid() || sinceMove_.elapsed() > kOneMove) rememberView();
  sinceMove_.start();
  move(axis_);
  changeView();
}

void TimelineWidget::zoomTo(const Interval& range) {
  rememberView();
  axis_.show(static_cast<double>(range.begin), static_cast<double>(range.end));
  changeView();
}

QSize TimelineWidget::sizeHint() const {
  return {800, TimelineLayout::fullHeight(std::max<size_t>(rows_.size(), 1), band_)};
}

void TimelineWidget::relayout() {
  const QSize size = viewport()->size();
  std::vector<RowShape> shapes;
  for (const TimelineRow& row : rows_) shapes.push_back(lanes_.shapeOf(row));
  layout_ = TimelineLayout::of(shapes, band_, lanes_.streams, size);
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

TimelineScene TimelineWidget::scene() const {
  return {rows_,
          layout_,
          axis_,
          found_,
          lanes_,
          path_,
          counterTops_,
          viewport()->size(),
          verticalScrollBar()->value()};
}

void TimelineWidget::paintEvent(QPaintEvent*) {
  const TimelineScene scene = this->scene();
  QPainter painter(viewport());
  if (layout_.order.empty()) {
    painter.fillRect(viewport()->rect(), colors().surface);
    painter.setFont(font::text());
    painter.setPen(colors().muted);
    painter.drawText(viewport()->rect().adjusted(24, 0, -24, 0), Qt::AlignCenter | Qt::TextWordWrap,
                     rows_.empty() ? emptyText_
                                   : tr("No row is shown: %1. Shift+H shows all of them.")
                                         .arg(lanes_.filter.isEmpty()
                                                  ? tr("all are hidden")
                                                  : tr("none is of “%1”").arg(lanes_.filter)));
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
  if (hasFocus() && layout_.order.size() > 1 && !layout_.rows[lane_.row].whole.isNull()) {
    const QRect row = layout_.rows[lane_.row].whole.translated(
        0, -scene.scrollOf(lane_.row));  // keys are about it
    if (row.top() >= (layout_.rows[lane_.row].sticky ? 0 : layout_.stickyHeight))
      painter.fillRect(QRect(0, row.top(), 2, row.height()), colors().accent);
  }
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

std::optional<size_t> TimelineWidget::rowAt(QPoint position) const {
  if (position.y() < TimelineLayout::kAxisHeight) return {};
  const bool sticky = position.y() < layout_.stickyHeight;
  const int y = position.y() + (sticky ? 0 : verticalScrollBar()->value());
  for (const size_t row : layout_.order) {
    const RowRects& rects = layout_.rows[row];
    if (rects.sticky == sticky && rects.whole.top() <= y && y <= rects.whole.bottom()) return row;
  }
  return {};
}

std::optional<LaneRef> TimelineWidget::laneAt(QPoint position) const {
  const auto row = rowAt(position);
  if (!row) return {};
  const RowRects& rects = layout_.rows[*row];
  const QPoint at = position + QPoint(0, rects.sticky ? 0 : verticalScrollBar()->value());
  for (const Stream stream : {Stream::compute, Stream::communication})
    if (rects.lanes[static_cast<size_t>(stream)].contains(at)) return LaneRef{*row, stream};
  return {};
}

std::vector<LaneRef> TimelineWidget::shownLanes() const {
  std::vector<LaneRef> lanes;
  for (const size_t row : layout_.order)
    for (const Stream stream : {Stream::compute, Stream::communication})
      if (!layout_.rows[row].lanes[static_cast<size_t>(stream)].isNull())
        lanes.push_back({row, stream});
  return lanes;
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
  const std::vector<LaneRef> lanes = shownLanes();
  if (lanes.empty()) return;
  const auto at = std::ranges::find(lanes, lane_) - lanes.begin();
  const auto last = static_cast<ptrdiff_t>(lanes.size()) - 1;
  lane_ = at > last ? lanes.front()
                    : lanes[static_cast<size_t>(std::clamp<ptrdiff_t>(at + direction, 0, last))];
  Q_EMIT currentRowChanged();
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
    rememberView();
    axis_.show(from, from + view);
    changeView();
  }
  const RowRects& rects = layout_.rows[ref.lane.row];
  const QRect lane = rects.lanes[static_cast<size_t>(ref.lane.stream)];
  if (lane.isNull() || rects.sticky) return;
  const int scroll = verticalScrollBar()->value();
  if (lane.bottom() - scroll > viewport()->height()) {
    verticalScrollBar()->setValue(lane.bottom() - viewport()->height() + 8);
  } else if (lane.top() - scroll < layout_.stickyHeight) {
    verticalScrollBar()->setValue(lane.top() - layout_.stickyHeight - 8);
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
