// The places of a timeline widget's rows, phase bands, lanes and counters, in viewport pixels
// before scrolling. Plain data, tested without a widget.
#pragma once

#include <QRect>
#include <QSize>
#include <array>
#include <vector>

namespace heddle::gui {

/// Which rows have a band naming the phases (forward, backward, optimizer) above their lanes.
enum class PhaseBand { none, firstRow, everyRow };

/// How a row is shown.
struct RowShape {
  bool hidden = false;
  bool pinned = false;     // above the others, which scroll under it
  bool collapsed = false;  // its lanes are as low as they can be seen
  int counters = 0;        // lanes of numbers under its own
};

/// A hidden row's rectangles are all null, and so are a lane's that is not shown.
struct RowRects {
  QRect whole;
  QRect band;  // null: none
  std::array<QRect, 2> lanes;
  std::vector<QRect> counters;
  bool sticky = false;  // it does not scroll
  bool collapsed = false;
  /// All lanes of spans.
  QRect content() const { return lanes[0].united(lanes[1]); }
};

struct TimelineLayout {
  static constexpr int kLabelWidth = 144;
  static constexpr int kAxisHeight = 26;
  static constexpr int kBandHeight = 18;
  static constexpr int kLaneGap = 4;
  static constexpr int kRowPadding = 8;  // above and below a row's lanes
  static constexpr int kRightMargin = 16;
  static constexpr int kLowestLane = 16;
  static constexpr int kHighestLane = 88;
  static constexpr int kCounterHeight = 40;
  static constexpr int kCollapsedHeight = 16;  // of all lanes together

  std::vector<RowRects> rows;
  std::vector<size_t> order;  // shown rows from top to bottom
  int height = 0;
  int stickyHeight = kAxisHeight;  // of what does not scroll

  /// Lanes grow with the height there is; where even the lowest do not fit, `height` exceeds it.
  /// `streams`: which lanes are shown.
  static TimelineLayout of(const std::vector<RowShape>& shapes, PhaseBand band,
                           std::array<bool, 2> streams, QSize viewport);
  /// The height at which lanes are as high as they get.
  static int fullHeight(size_t rows, PhaseBand band);
};

}  // namespace heddle::gui
