// What a timeline widget shows, and where: rows, lanes, references to spans. Plain data.
#pragma once

#include <QColor>
#include <QRect>
#include <QString>
#include <QVector>
#include <memory>
#include <vector>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

/// One rank's step. Rows of one widget may come from different runs.
struct TimelineRow {
  QString title;     // "rank 0", or the run's name
  QString subtitle;  // the host, or the step's duration; in mono, muted
  QString note;      // a line in the warning colour: "straggler, +131 ms"
  QColor color;      // of the title and its stroke; invalid: the text's, no stroke
  QVector<qreal> dash;
  bool warn = false;                         // the row's background says so
  int64_t shiftUs = 0;                       // the row begins here on the common axis: 0 or more
  std::shared_ptr<const Timeline> timeline;  // none: the row says that nothing was recorded
};

enum class PhaseBand { none, firstRow, everyRow };

struct LaneRef {
  size_t row = 0;
  Stream stream = Stream::compute;
  bool operator==(const LaneRef&) const = default;
};

struct SpanRef {
  LaneRef lane;
  size_t span = 0;  // index into Lane::spans()
  bool operator==(const SpanRef&) const = default;
};

/// Pieces that a search has found, as running counts: [row][stream][piece] is the number of hits
/// before that piece. Empty: no search.
using SearchHits = std::vector<std::array<std::vector<uint32_t>, 2>>;

struct RowRects {
  QRect whole;
  QRect band;  // null: none
  std::array<QRect, 2> lanes;
};

/// Where everything is, in viewport pixels before scrolling.
struct TimelineLayout {
  static constexpr int kLabelWidth = 132;
  static constexpr int kAxisHeight = 26;
  static constexpr int kBandHeight = 18;
  static constexpr int kLaneGap = 4;
  static constexpr int kRowGap = 16;
  static constexpr int kRightMargin = 14;
  static constexpr int kLowestLane = 16;
  static constexpr int kHighestLane = 56;

  std::vector<RowRects> rows;
  int height = 0;

  /// Lanes grow with the height there is; when even the lowest do not fit, `height` exceeds it.
  static TimelineLayout of(size_t rows, PhaseBand band, QSize viewport);
  static int fullHeight(size_t rows, PhaseBand band);
};

}  // namespace heddle::gui
