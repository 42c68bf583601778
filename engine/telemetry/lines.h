// Records as lines of plain text, units always included: what `heddle-engine train`, `heddle-engine
// log` and `heddle tail` print.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "engine/telemetry/record.h"

namespace heddle::telemetry {

/// "rank 3: "; nothing for rank 0 and the supervisor, which speak for the run.
std::string speaker(int32_t rank);

/// "rank 3 started as process 77": a line of the supervisor's on a rank's process.
std::string process_text(int32_t rank, const std::string& what);
/// Whether a line is such a one; `rank`: whose log it is in.
bool is_of_process(int32_t rank, const std::string& text);

/// "step 12/40  loss 5.432  gradient 1.23  6,667 tok/s a rank  145 MiB  ETA 4.50 s", of what is
/// known. `steps`: of the whole run, 0: not known.
std::string step_text(const Step& step, int64_t steps = 0,
                      std::optional<double> seconds_left = std::nullopt);
/// "2 ranks, planned, on loom (cpu, 1 thread a rank); predicted memory 145 MiB a rank".
std::string start_text(const Start& start);
/// The text, with its level where that is more than information.
std::string log_text(const Log& log);
/// "done: loss 3.981, 6,667 tok/s a rank, 4.50 s a step, 145 MiB at most".
std::string end_text(const End& end);

/// How long the steps to come take, at the pace of the newest ones, saving and validation included.
class Pace {
 public:
  void add(const Step& step);
  /// For a run of `steps` steps; none before two steps are known, nor after the last.
  std::optional<double> seconds_left(int64_t steps) const;

 private:
  struct Ended {
    int64_t step;
    double time;
  };
  std::deque<Ended> newest_;
};

}  // namespace heddle::telemetry
