#include "gui/timeline/timeline_layout.h"

#include <algorithm>

namespace heddle::gui {
namespace {

bool hasBand(size_t row, PhaseBand band) {
  return band == PhaseBand::everyRow || (band == PhaseBand::firstRow && row == 0);
}

/// Everything but the lanes.
int chrome(size_t rows, PhaseBand band) {
  constexpr int kBand = TimelineLayout::kBandHeight + TimelineLayout::kLaneGap;
  const int count = static_cast<int>(rows);
  const int bands = band == PhaseBand::everyRow ? count : band == PhaseBand::firstRow ? 1 : 0;
  return TimelineLayout::kAxisHeight + bands * kBand +
         count * (2 * TimelineLayout::kRowPadding + TimelineLayout::kLaneGap);
}

}  // namespace

int TimelineLayout::fullHeight(size_t rows, PhaseBand band) {
  return chrome(rows, band) + static_cast<int>(rows) * 2 * kHighestLane;
}

TimelineLayout TimelineLayout::of(size_t rows, PhaseBand band, QSize viewport) {
  TimelineLayout layout;
  layout.height = kAxisHeight;
  if (rows == 0) return layout;
  const int lanes = static_cast<int>(rows) * 2;
  const int lane =
      std::clamp((viewport.height() - chrome(rows, band)) / lanes, kLowestLane, kHighestLane);
  const int width = std::max(1, viewport.width() - kLabelWidth - kRightMargin);
  int y = kAxisHeight;
  for (size_t row = 0; row < rows; ++row) {
    RowRects rects;
    const int top = y;
    y += kRowPadding;
    if (hasBand(row, band)) {
      rects.band = QRect(kLabelWidth, y, width, kBandHeight);
      y += kBandHeight + kLaneGap;
    }
    rects.lanes[0] = QRect(kLabelWidth, y, width, lane);
    y += lane + kLaneGap;
    rects.lanes[1] = QRect(kLabelWidth, y, width, lane);
    y += lane + kRowPadding;
    rects.whole = QRect(0, top, viewport.width(), y - top);
    layout.rows.push_back(rects);
  }
  layout.height = y;
  return layout;
}

}  // namespace heddle::gui
