// One rank's profiled step, classified and indexed for painting. Plain data without Qt; immutable
// once built, so that it may be built on a worker thread and shared. Times are microseconds from
// the step's start.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::gui {

/// The use of a piece of time. Communication is hidden while compute runs and exposed while
/// compute idles; a span that is partly both becomes several pieces. Waiting is exposed
/// communication that has not begun, because other ranks have yet to reach it.
enum class Kind : uint8_t { forward, backward, optimizer, hidden, exposed, waiting };
inline constexpr int kKinds = 6;

enum class Stream : uint8_t { compute, communication };

/// Half-open, as in [begin, end).
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

/// A set of times: sorted, disjoint intervals with running totals. Queries are logarithmic.
class Intervals {
 public:
  Intervals() = default;
  /// Sorts and merges; intervals that overlap or touch become one.
  explicit Intervals(std::vector<Interval> unsorted);

  const std::vector<Interval>& items() const { return items_; }
  /// Time of [begin, end) that is in the set.
  int64_t covered(int64_t begin, int64_t end) const;
  Intervals intersection(const Intervals& other) const;
  Intervals without(const Intervals& other) const;

 private:
  int64_t coveredBefore(int64_t time) const;

  std::vector<Interval> items_;
  std::vector<int64_t> totalBefore_;  // length of all items before item i
};

/// A part of a span that is of one kind.
struct Piece {
  Interval time;
  Kind kind = Kind::forward;
  uint32_t span = 0;  // index into Lane::spans()
};

/// A painted piece, or neighbours too narrow to be seen apart, folded into one.
struct Mark {
  Interval time;
  Kind kind = Kind::forward;  // of a fold: the kind with most time in it
  double coverage = 1.0;      // of a fold: the share of its time that is not idle
  uint32_t first = 0;         // index into Lane::pieces()
  uint32_t count = 1;         // more than one: a fold
};

/// From its begin to its end; a span that ends before it begins has no length.
inline Interval timeOf(const telemetry::Span& span) {
  return {span.start_us, span.start_us + (span.duration_us > 0 ? span.duration_us : 0)};
}

/// The part of a module's name that names its layer: "layers.3" of "layers.3.attention.wq".
std::string_view layerOf(std::string_view module);

/// The spans of one stream.
class Lane {
 public:
  Lane() = default;
  /// `spans` and `pieces` sorted by begin.
  Lane(std::vector<telemetry::Span> spans, std::vector<Piece> pieces);

  const std::vector<telemetry::Span>& spans() const { return spans_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Neighbours of one layer ("layers.3") or one other module share a number; it grows along the
  /// lane.
  uint32_t group(size_t span) const { return groups_[span]; }
  /// Spans of one operator, module and stream share a label: a number below labels().
  uint32_t label(size_t span) const { return labels_[span]; }
  size_t labels() const { return labelled_.size(); }
  /// The first span of that label.
  const telemetry::Span& labelled(uint32_t label) const { return spans_[labelled_[label]]; }

  /// The marks to paint in `view` when pieces shorter than `foldUs` are folded. The result has at
  /// most two marks per `foldUs`, however many spans there are, and costs a binary search each.
  std::vector<Mark> marks(Interval view, double foldUs) const;
  /// The span running at `time`, the latest to begin if spans overlap, or -1.
  int64_t spanAt(int64_t time) const;
  /// The first piece that ends after `time`; pieces().size(): none does.
  size_t firstPiece(int64_t time) const;
  /// Time of each kind in pieces [first, last).
  std::array<int64_t, kKinds> totals(size_t first, size_t last) const;

 private:
  std::vector<telemetry::Span> spans_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> groups_;                     // of spans
  std::vector<uint32_t> labels_;                     // of spans
  std::vector<uint32_t> labelled_;                   // by label: a span
  std::vector<int64_t> latestEnd_;                   // of pieces 0..i: grows, so it can be searched
  std::vector<std::array<int64_t, kKinds>> before_;  // time of each kind in pieces before i
};

/// Consecutive compute of one phase. Optimizer work in the middle of it belongs to it
/// if that takes less than a fiftieth of the step.
struct PhaseRun {
  Kind phase = Kind::forward;
  Interval time;
};

/// How a stretch of time was spent; microseconds. communication = overlapped + exposed + bubble,
/// what waits for another pipeline stage; compute + exposed + bubble + idle = range; waiting is a
/// part of exposed. In the order in which step_alignment and the engine count: compute, transfers,
/// the bubble, waiting for ranks.
struct Statistics {
  int64_t range = 0;
  int64_t compute = 0;
  int64_t communication = 0;
  int64_t overlapped = 0;
  int64_t exposed = 0;
  int64_t waiting = 0;
  int64_t bubble = 0;
  int64_t idle = 0;
  /// Share of communication that compute hides, 0 to 1; 1 when there is none.
  double overlap() const {
    return communication > 0 ? static_cast<double>(overlapped) / static_cast<double>(communication)
                             : 1.0;
  }
};

/// One rank's step: a lane per stream.
class Timeline {
 public:
  Timeline() = default;
  /// Spans in any order. `stepUs`: the step's duration where it is known to exceed the last span.
  explicit Timeline(std::vector<telemetry::Span> spans, int64_t stepUs = 0);

  const Lane& lane(Stream stream) const { return lanes_[static_cast<size_t>(stream)]; }
  const std::vector<PhaseRun>& phases() const { return phases_; }
  int64_t lengthUs() const { return lengthUs_; }
  bool empty() const { return lanes_[0].spans().empty() && lanes_[1].spans().empty(); }

  Statistics statistics(Interval range) const;
  Statistics statistics() const { return statistics({0, lengthUs_}); }

 private:
  std::array<Lane, 2> lanes_;
  Intervals compute_;
  Intervals communication_;
  Intervals overlapped_;
  // While compute idles and no transfer runs: for other stages, for ranks of the same one.
  Intervals bubble_;
  Intervals waiting_;
  std::vector<PhaseRun> phases_;
  int64_t lengthUs_ = 0;
};

}  // namespace heddle::gui
