// Several runs from one recipe: keys with several values, or with a range, become the runs of a
// grid, or random picks. Plain data: no store, no target; whether a value is good is the recipe's
// question.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::workbench {

inline constexpr int64_t kMaxSweepRuns = 1000;

/// From where random picks take a number.
struct SweepRange {
  double low = 0, high = 0;
  bool log = false;    // as many picks from 1e-5 to 1e-4 as from 1e-4 to 1e-3
  bool whole = false;  // integers only
};

/// A key that is not the same in all runs.
struct SweepKey {
  std::string key;                  // dotted
  std::vector<std::string> values;  // as --set takes them
  std::optional<SweepRange> range;  // instead of values
};

struct RandomPicks {
  int64_t runs = 0;
  uint64_t seed = 0;
};

struct Sweep {
  std::vector<std::string> sets;     // "key=value", the same in all runs
  std::vector<SweepKey> keys;        // in the order in which they were given; empty: one run
  std::optional<RandomPicks> picks;  // unset: the grid
};

/// Reads what `--set` and `--sweep` say. "lr=1e-4,3e-4" has two values; commas within brackets or
/// quotes divide nothing. "lr=log(1e-5..1e-3)" and "0..0.2" are ranges. A key may be written
/// without its section where only one ends so. `how`: "grid" or "", "random:N", "random:N:SEED".
Result<Sweep> read_sweep(const std::vector<std::string>& sets, const std::string& how = "");

/// One run of a sweep.
struct SweepRun {
  std::string label;              // what it has of its own: "lr=1e-4 weight_decay=0"; may be empty
  std::vector<std::string> sets;  // all of them, the common ones first
};

/// All runs, in the order of the values, the last key fastest; the same seed gives the same picks.
Result<std::vector<SweepRun>> expand(const Sweep& sweep);

}  // namespace heddle::workbench
