// Everything that engine, store, window and shell know of a metric: its words, its unit, which
// direction is better, who reports it, how the ranks' values become one and the steps' values
// become the run's, and where it is shown. They loop over this table: a new metric is a row here
// and a value in a record. No LibTorch, no Qt. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/number_text.h"

namespace heddle::telemetry {

/// The record that has the metric.
enum class Reporter : uint8_t {
  step,        // each rank's step records
  start,       // rank 0's start record
  end,         // rank 0's end record
  plan,        // the document of rank 0's plan record; its names lack kPredicted
  comparison,  // none: only predicted plans have it, when they are compared
  follower,    // none: the process that follows the run's host adds it to the run's environment
};

enum class Better : int8_t { less = -1, neither = 0, more = 1 };

/// How the values of several ranks become one.
enum class Fold : uint8_t {
  first,  // the lowest rank that reports it; all ranks have the same, or any of them will do
  mean,
  most,
};

/// How the values of several steps become the run's, which has the metric's name too.
enum class Average : uint8_t { none, median, last };

/// The first steps are slower than all others: scales and medians leave them out.
inline constexpr int kWarmUpSteps = 3;

/// A prediction's name is this prefix and the name of the metric that it predicts.
inline constexpr std::string_view kPredicted = "predicted_";

struct Metric {
  std::string_view name = {};   // in records, in the store and in JSON: it never changes
  std::string_view words = {};  // as a label
  Unit unit = Unit::unknown;
  Reporter reporter = Reporter::step;
  Better better = Better::neither;
  Fold over_ranks = Fold::first;
  Average over_steps = Average::none;
  int warm_up = 0;  // steps that the average leaves out, if there are more
  // With the value at {}, on the line that the engine prints for a step or for a run's end.
  std::string_view step_line = {}, end_line = {};
  bool live = false;                // among the facts on the Live page
  bool drawer = false;              // among the results in the drawer of the Runs page
  std::string_view meaning = {};    // more than the words tell
  std::string_view elsewhere = {};  // its names in other programs' logs, with blanks between
};

/// All metrics, the most important first: the order in which they are shown.
std::span<const Metric> metrics();

/// The metric of that name; for an unknown name a neutral entry, whose name is empty.
const Metric& metric(std::string_view name);

/// The metric that another program's logs call by this name, in any letter case; else `metric`.
const Metric& foreign_metric(std::string_view name);

/// Its index in `metrics()`; an unknown name comes after all others.
size_t order_of(std::string_view name);

/// "peak memory"; "some name" for an unknown some_name.
std::string words_of(std::string_view name);

/// A value of that metric with its unit. `more`: see base/number_text.h.
std::string value_text(std::string_view name, double value, int more = 0);

/// The values of several ranks as one, as the metric says.
class RankFold {
 public:
  explicit RankFold(const Metric& metric) : how_(metric.over_ranks) {}
  void add(int32_t rank, double value);
  bool empty() const { return ranks_ == 0; }
  /// NaN if no rank was added.
  double value() const;

 private:
  Fold how_;
  double value_ = 0;
  int32_t lowest_ = 0;  // rank that was added
  int ranks_ = 0;
};

}  // namespace heddle::telemetry
