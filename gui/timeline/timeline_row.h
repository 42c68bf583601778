// What a timeline widget shows: rows, and references to lanes and spans in them. Plain data.
#pragma once

#include <QColor>
#include <QString>
#include <array>
#include <memory>
#include <vector>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

/// One rank's step. Rows of one widget may come from different runs.
struct TimelineRow {
  QString title;                             // "rank 0", or the run's name
  QString subtitle;                          // the host, or the step's duration; in mono, muted
  QString note;                              // a line in the warning colour: "straggler +131 ms"
  QColor color;                              // of the stroke above the title; invalid: no stroke
  int marker = -1;                           // of that stroke, see RunStroke
  bool warn = false;                         // the row's background says so
  int64_t shiftUs = 0;                       // the row begins here on the common axis: 0 or more
  std::shared_ptr<const Timeline> timeline;  // none: the row says that nothing was recorded
};

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

/// What a search has found: [row][stream][i] is the number of hits in the lane's pieces before i.
/// Empty: no search.
using SearchHits = std::vector<std::array<std::vector<uint32_t>, 2>>;

/// Hits of a text in operators and modules, case ignored.
SearchHits search(const std::vector<TimelineRow>& rows, const QString& text);
/// Spans found in all rows.
int64_t countHits(const std::vector<TimelineRow>& rows, const QString& text);

}  // namespace heddle::gui
