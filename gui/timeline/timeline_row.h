// A timeline widget's content: rows, and references to lanes and spans in them. Plain data.
#pragma once

#include <QColor>
#include <QString>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

/// One rank's step. Rows of one widget may come from different runs.
struct TimelineRow {
  QString title;                             // "rank 0", or the run's name
  QString subtitle;                          // the host, or the step's duration; in mono, muted
  QString note;                              // in the warning colour if it warns: "straggler +9 ms"
  QColor color;                              // of the stroke above the title; invalid: no stroke
  int marker = -1;                           // of that stroke, see RunStroke
  bool warn = false;                         // the row's background says so, too
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

/// A search's result: [row][stream][i] is the number of hits in the lane's pieces before i.
/// Empty: no search.
using SearchHits = std::vector<std::array<std::vector<uint32_t>, 2>>;

/// Whether a span of the row with that number is found.
using SpanTest = std::function<bool(size_t row, const telemetry::Span&)>;

/// An operator or module that contains the text, case ignored.
SpanTest textTest(const QString& text);
SearchHits search(const std::vector<TimelineRow>& rows, const SpanTest& test);

/// Spans found in all rows, and the time on the common axis that they take from the first to the
/// last.
struct Found {
  int64_t count = 0;
  Interval time;
};
Found findSpans(const std::vector<TimelineRow>& rows, const SpanTest& test);

}  // namespace heddle::gui
