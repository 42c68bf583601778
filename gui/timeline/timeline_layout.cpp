#include "gui/timeline/timeline_layout.h"

#include <algorithm>
#include <limits>

namespace heddle::gui {
namespace {

constexpr int kCollapsedPadding = 3, kCollapsedGap = 2;

/// Rows one under the other.
class Stack {
 public:
  Stack(TimelineLayout& layout, std::array<bool, 2> streams, int viewportWidth, int lane)
      : layout_(layout),
        streams_(streams),
        viewport_(viewportWidth),
        width_(std::max(
            1, viewportWidth - TimelineLayout::kLabelWidth - TimelineLayout::kRightMargin)),
        lane_(lane) {}

  void add(size_t row, const RowShape& shape, bool band) {
    RowRects& rects = layout_.rows[row];
    rects.collapsed = shape.collapsed;
    const int top = y_;
    y_ += padding(shape);
    if (band && !shape.collapsed) {
      rects.band = take(TimelineLayout::kBandHeight);
      y_ += TimelineLayout::kLaneGap;
    }
    const int lanes = streams_[0] + streams_[1];
    const int gap = shape.collapsed ? kCollapsedGap : TimelineLayout::kLaneGap;
    const int height =
        shape.collapsed ? (TimelineLayout::kCollapsedHeight - (lanes - 1) * gap) / lanes : lane_;
    for (size_t stream = 0; stream < 2; ++stream) {
      if (!streams_[stream]) continue;
      rects.lanes[stream] = take(height);
      if (stream == 0 && streams_[1]) y_ += gap;
    }
    for (int i = 0; i < shape.counters && !shape.collapsed; ++i) {
      y_ += TimelineLayout::kLaneGap;
      rects.counters.push_back(take(TimelineLayout::kCounterHeight));
    }
    y_ += padding(shape);
    rects.whole = QRect(0, top, viewport_, y_ - top);
    layout_.order.push_back(row);
  }

  int y() const { return y_; }

 private:
  static int padding(const RowShape& shape) {
    return shape.collapsed ? kCollapsedPadding : TimelineLayout::kRowPadding;
  }
  QRect take(int height) {
    const QRect rect(TimelineLayout::kLabelWidth, y_, width_, height);
    y_ += height;
    return rect;
  }

  TimelineLayout& layout_;
  std::array<bool, 2> streams_;
  int viewport_, width_, lane_;
  int y_ = TimelineLayout::kAxisHeight;
};

TimelineLayout stacked(const std::vector<RowShape>& shapes, PhaseBand band,
                       std::array<bool, 2> streams, QSize viewport, int lane) {
  TimelineLayout layout;
  layout.rows.resize(shapes.size());
  Stack stack(layout, streams, viewport.width(), lane);
  bool banded = false;
  for (const bool pinned : {true, false}) {
    for (size_t row = 0; row < shapes.size(); ++row) {
      const RowShape& shape = shapes[row];
      if (shape.hidden || shape.pinned != pinned) continue;
      const bool has = band == PhaseBand::everyRow || (band == PhaseBand::firstRow && !banded);
      stack.add(row, shape, has);
      banded |= has && !shape.collapsed;
    }
    if (pinned) layout.stickyHeight = stack.y();
  }
  layout.height = stack.y();
  // Pinned rows that would take most of the room scroll like the others.
  if (layout.stickyHeight > TimelineLayout::kAxisHeight + viewport.height() * 2 / 3)
    layout.stickyHeight = TimelineLayout::kAxisHeight;
  for (const size_t row : layout.order)
    layout.rows[row].sticky = layout.rows[row].whole.bottom() < layout.stickyHeight;
  return layout;
}

}  // namespace

int TimelineLayout::fullHeight(size_t rows, PhaseBand band) {
  const QSize endless(kLabelWidth, std::numeric_limits<int>::max() / 2);
  return of(std::vector<RowShape>(rows), band, {true, true}, endless).height;
}

TimelineLayout TimelineLayout::of(const std::vector<RowShape>& shapes, PhaseBand band,
                                  std::array<bool, 2> streams, QSize viewport) {
  if (!streams[0] && !streams[1]) streams = {true, true};
  const auto shown = std::ranges::count_if(
      shapes, [](const RowShape& shape) { return !shape.hidden && !shape.collapsed; });
  const int lanes = static_cast<int>(shown) * (streams[0] + streams[1]);
  const int fixed = stacked(shapes, band, streams, viewport, 0).height;
  const int lane = lanes == 0
                       ? kLowestLane
                       : std::clamp((viewport.height() - fixed) / lanes, kLowestLane, kHighestLane);
  return stacked(shapes, band, streams, viewport, lane);
}

}  // namespace heddle::gui
