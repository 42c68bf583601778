// How fast this machine is: measured on all its ranks at once, as they are busy in training.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "engine/cost/calibration.h"

namespace heddle::train {

/// Sizes of gathers to measure: 40 from 4 KiB to 128 MiB; or few, for the start of a run whose
/// link may be slow.
std::vector<int64_t> many_sizes();
std::vector<int64_t> few_sizes();

/// Gathers and scatters of whole tensors of these sizes, and what they take from compute beside
/// them. Every rank of the group calls this; throws c10::Error as collectives do.
cost::Link measure_link(c10d::Backend& group, const std::string& transport,
                        const std::vector<int64_t>& sizes);

/// Each operator's speed in the steps of small models, fp32 and bf16, one rank alone. Call it on
/// all ranks at once: each takes its share of the machine.
Result<std::vector<cost::OperatorRate>> measure_operators();

}  // namespace heddle::train
