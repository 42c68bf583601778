// Successive halving: at some steps the worst half of a sweep's runs is stopped. Plain data and
// decisions; scheduler.h has the runs stopped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queue.h"

namespace heddle::workbench {

/// The wish that `--halving METRIC:KEEP[@STEP,STEP…]` states.
struct HalvingWish {
  std::string metric;
  int64_t keep = 1;                 // runs that train to the end
  std::vector<int64_t> steps = {};  // empty: chosen by the number of runs
};

/// The metric needs a better direction, and comes with steps.
Result<HalvingWish> read_halving(const std::string& text);

/// The rungs for so many runs of so many steps each: the runs are halved at each, down to `keep`;
/// where no steps are given, at the half of all, a quarter, and so on.
Result<storage::Halving> plan_halving(const HalvingWish& wish, int64_t runs, int64_t steps);

/// "after step 25 the best 2 go on, after step 50 the best 1, by loss".
std::string words_of(const storage::Halving& halving);

/// A run of the group as a halving sees it.
struct Contender {
  storage::RunId run = 0;
  bool going = false;                     // it can be stopped
  std::map<int64_t, double> values = {};  // by the rung's step: the metric there; NaN: not finite
};

/// A rung's verdict on a run that has reached it.
struct RungDecision {
  storage::RunId run = 0;
  int64_t step = 0;
  bool stop = false;
  std::string words;  // for its log: "halving at step 25: …"
};

/// A run is to be stopped once so many others did better at a rung that it cannot be among the best
/// there: runs may reach it one after another. Deterministic; the same runs give the same
/// decisions.
std::vector<RungDecision> decide(const storage::Halving& halving,
                                 const std::vector<Contender>& contenders);

}  // namespace heddle::workbench
