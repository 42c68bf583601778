// The lines of a run's log as they are shown: in order of time, steps among them where wanted, long
// ones folded. Plain data.
#pragma once

#include <QString>
#include <array>
#include <set>
#include <vector>

#include "gui/views/live/step_points.h"
#include "storage/run.h"

namespace heddle::gui {

class LogLines {
 public:
  struct Filter {
    telemetry::Level least = telemetry::Level::info;  // lines of this level and worse
    int64_t everyStep = 0;                            // every n-th step has a line; 0: none has
    bool whole = false;                               // there is room for long lines
  };
  /// One line as it is shown.
  struct Shown {
    double time = 0;
    telemetry::Level level = telemetry::Level::info;
    int32_t rank = telemetry::kSupervisorRank;
    int64_t id = 0;  // of the log line; 0: a step's
    QString text;
    bool folds = {};  // it is long: `text` may be the beginning only
  };

  /// The steps that are kept: the newest ones.
  static constexpr size_t kMaxSteps = 10'000;

  void clear();
  /// True when all of it comes after what was there: it can be added at the end.
  bool add(const std::vector<storage::LogLine>& lines, const std::vector<StepPoint>& steps);

  /// The last `most` lines that the filter lets through.
  std::vector<Shown> last(const Filter& filter, size_t most) const;
  /// The lines of the last add() that the filter lets through.
  std::vector<Shown> added(const Filter& filter) const;

  /// Unfolds a long line, or folds it again.
  void toggle(int64_t id);
  bool isUnfolded(int64_t id) const { return unfolded_.contains(id); }

  size_t size() const { return lines_.size(); }
  /// Lines of that level.
  size_t count(telemetry::Level level) const { return counts_[static_cast<size_t>(level)]; }

 private:
  std::vector<Shown> merged(const Filter& filter, size_t line, size_t step, size_t most) const;
  Shown shown(const storage::LogLine& line, bool whole) const;

  std::vector<storage::LogLine> lines_;  // by time
  std::vector<StepPoint> steps_;
  std::set<int64_t> unfolded_;
  std::array<size_t, 3> counts_{};  // by level
  size_t firstNewLine_ = 0, firstNewStep_ = 0;
};

/// "step 410: loss 3.981, 2,048 tok/s a rank, 612 MiB, 610 ms".
QString stepText(const StepPoint& point);

}  // namespace heddle::gui
