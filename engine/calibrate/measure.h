// How fast this machine is: measured on all its ranks at once, as they are busy in training.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "base/clock.h"
#include "engine/cost/calibration.h"

namespace heddle::calibrate {

/// Bytes of the whole tensors to measure, while nothing computes and next to compute: 25 and 13 of
/// them from 4 KiB to 128 MiB; or some, 13 and 7; or few, for the start of a run whose link may be
/// slow.
struct Sizes {
  std::vector<int64_t> alone, beside;  // ascending; the second ones are among the first
  int64_t rounds = 0;                  // next to compute, at most
};
Sizes many_sizes();
Sizes some_sizes();
Sizes few_sizes();

/// Until when to measure: on a busy machine all takes many times as long.
using Deadline = Clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

/// Gathers and scatters of whole tensors of these sizes, and what they take from compute next to
/// them: the small ones first, no more once any rank's time is over. Every rank of
/// the group calls this; throws c10::Error as collectives do.
cost::Link measure_link(c10d::Backend& group, const std::string& transport, const Sizes& sizes,
                        Deadline deadline = kNoDeadline);

/// Bytes that this process holds when it trains, besides states and arena. Call it first: what else
/// has been allocated counts too.
Result<int64_t> measure_process();

struct Operators {
  std::vector<cost::OperatorRate> rates;
  std::vector<std::string> left_out;  // what there was no time for, in words
};

/// Each operator's speed in the steps of small models, fp32 and bf16, one rank alone. Call it on
/// all ranks at once: each takes its share of the machine.
Result<Operators> measure_operators(Deadline deadline = kNoDeadline);

}  // namespace heddle::calibrate
