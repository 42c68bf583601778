// A run's curve out of the store, at the resolution and over the stretch that a chart shows: raw
// from the pyramid, smoothed from every sample. No widgets; on the session's reading thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/charts/chart_x.h"
#include "gui/charts/series.h"
#include "storage/queries.h"

namespace heddle::gui {

// In place of a rank: the ranks' values as one, or every rank's own curve.
inline constexpr int32_t kAllRanks = -1, kEachRank = -2;

/// A run's facts that reading its curves needs.
struct CurveRun {
  storage::RunId id = 0;
  std::vector<int32_t> ranks;
  /// Another one when the store has more of the run: its curves are continued.
  int64_t version = 0;
  int64_t attempts = 0;  // with another number steps may be repeated: curves are read again
  int64_t last = std::numeric_limits<int64_t>::max();  // the last step that is wanted
  double began = 0;                                    // Unix seconds; 0: not known
  bool operator==(const CurveRun&) const = default;
  /// Whether the run at a later time has the same curves and their continuation.
  bool continuesAs(const CurveRun& later) const {
    return id == later.id && attempts == later.attempts && last == later.last &&
           began == later.began;
  }
};

struct CurveQuery {
  std::string metric;
  ChartX x = ChartX::step;
  std::string xMetric = {};
  double smoothing = 0;  // half-life in steps; 0: none
  int32_t rank = kAllRanks;
  std::optional<Range> shown = {};  // in x; none: all
  int pixels = 1000;                // the width that it is drawn in
  bool operator==(const CurveQuery&) const = default;
};

class CurveAxis;

/// Where the reading of a curve ended, and what going on from there needs.
struct CurveEnd {
  int64_t step = -1;           // the last one that will not change: all ranks have reported it
  double x = 0;                // of it
  std::vector<int32_t> ranks;  // that have reported any
  std::shared_ptr<const CurveAxis> axis;
  Ema ema = {};       // after it
  double bucket = 1;  // steps for which one smoothed point is kept
  size_t points = 0;  // the number of points that was asked for
};

struct CurveData {
  storage::RunId run = 0;
  int32_t rank = kAllRanks;
  /// It goes on from the end of an earlier reading, whose points after that x it replaces.
  std::optional<double> after = {};
  Series raw = {};
  Series smooth = {};    // empty: none, or it is still being read
  Range extent = {};     // of x, over the whole run
  bool complete = true;  // every sample of the run is in `raw`
  CurveEnd end = {};

  /// Takes on what a later reading has found.
  void goOn(CurveData more);
};

/// By run and rank.
using CurveEnds = std::map<std::pair<storage::RunId, int32_t>, CurveEnd>;

/// Reads the curves of some runs, a few milliseconds' worth at a time, so that other questions get
/// their turn: made on one thread, then used on another.
class CurveReading {
 public:
  static constexpr std::chrono::milliseconds kTurn{25};

  /// Curves that have an end among `ends` go on from there where that can be: no rank has become
  /// one of theirs since. `turn`: after so long next() returns with what it has.
  CurveReading(CurveQuery query, std::vector<CurveRun> runs, CurveEnds ends = {},
               std::chrono::milliseconds turn = kTurn);
  ~CurveReading();

  /// Curves that have come. A long one comes twice: raw at first, then with its smoothed companion.
  Result<std::vector<CurveData>> next(storage::Reader& reader);
  bool done() const { return at_ >= runs_.size(); }

 private:
  struct Smoothing;
  Result<> begin(storage::Reader& reader, std::vector<CurveData>& out);
  Result<> beginAt(storage::Reader& reader, int32_t rank, std::vector<CurveData>& out);
  Result<bool> goOn(storage::Reader& reader, int32_t rank, const CurveEnd& end,
                    std::vector<CurveData>& out);
  Result<> smooth(storage::Reader& reader, std::vector<CurveData>& out);
  storage::StepRange range(const CurveAxis& axis) const;
  void finish(CurveData data, std::vector<CurveData>& out);

  CurveQuery query_;
  std::vector<CurveRun> runs_;
  CurveEnds ends_;
  std::chrono::milliseconds turn_;
  size_t at_ = 0;                         // in runs_
  size_t rank_ = 0;                       // of the run, where every rank has a curve
  std::unique_ptr<Smoothing> smoothing_;  // of a curve whose raw one is there
};

}  // namespace heddle::gui
