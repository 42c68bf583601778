// A timeline widget's content: rows, and references to lanes and spans in them. Plain data.
#pragma once

#include <QColor>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "gui/timeline/counter.h"
#include "gui/timeline/timeline_data.h"
#include "workbench/step_plan.h"

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
  std::shared_ptr<const workbench::StepPlan> plan;       // of the row's run; none: nothing is known
  std::vector<std::shared_ptr<const Counter>> counters;  // lanes under its own
  int64_t rank = -1;                                     // −1: of no one rank
  int run = 0;                                           // rows of one number are ranks of one step
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

/// A stretch of a lane that is part of the critical path, in its row's own time.
struct PathMark {
  LaneRef lane;
  Interval time;
};

/// Whether a span of the row with that number is found.
using SpanTest = std::function<bool(size_t row, const telemetry::Span&)>;
/// For each span, or once for all of a row that share operator, module and stream.
enum class Tested : uint8_t { everySpan, everyLabel };

/// An operator or module that contains the text, case ignored. One label, one answer.
SpanTest textTest(const QString& text);

/// The spans that a search finds, in order: row after row, compute before communication, by begin.
class Found {
 public:
  Found() = default;
  /// `shows`: the lanes to search.
  Found(const std::vector<TimelineRow>& rows, const SpanTest& test, Tested tested,
        const std::function<bool(const LaneRef&)>& shows);

  /// Nothing was searched for: not the same as nothing found.
  bool empty() const { return lanes_.empty(); }
  int64_t count() const { return count_; }
  /// From the first to the last, on the common axis.
  const Interval& time() const { return time_; }
  /// By lane, [row][stream]: hits in its pieces before i.
  const std::vector<uint32_t>& inPieces(const LaneRef& lane) const { return of(lane).inPieces; }
  /// How many are before this span.
  int64_t before(const SpanRef& span) const;
  bool has(const SpanRef& span) const;
  /// The hit of that number, 0 ≤ number < count().
  SpanRef at(int64_t number) const;

 private:
  struct LaneHits {
    std::vector<uint32_t> spans;     // ascending
    std::vector<uint32_t> inPieces;  // before piece i
    int64_t before = 0;              // in the lanes before
  };
  const LaneHits& of(const LaneRef& lane) const {
    return lanes_[lane.row * 2 + static_cast<size_t>(lane.stream)];
  }

  std::vector<LaneHits> lanes_;
  int64_t count_ = 0;
  Interval time_;
};

}  // namespace heddle::gui
