// The places of a timeline widget's rows, phase bands and lanes, in viewport pixels before
// scrolling. Plain data, tested without a widget.
#pragma once

#include <QRect>
#include <QSize>
#include <array>
#include <vector>

namespace heddle::gui {

/// Which rows have a band naming the phases (forward, backward, optimizer) above their lanes.
enum class PhaseBand { none, firstRow, everyRow };

struct RowRects {
  QRect whole;
  QRect band;  // null: none
  std::array<QRect, 2> lanes;
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

  std::vector<RowRects> rows;
  int height = 0;

  /// Lanes grow with the height there is; where even the lowest do not fit, `height` exceeds it.
  static TimelineLayout of(size_t rows, PhaseBand band, QSize viewport);
  /// The height at which lanes are as high as they get.
  static int fullHeight(size_t rows, PhaseBand band);
};

}  // namespace heddle::gui
