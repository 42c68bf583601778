// Corrections of predicted rates, from finished runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cost/checks.h"

namespace heddle::cost {

/// Measured over predicted seconds, by work_name, and the runs that say so.
struct Refinement {
  WorkRatios factors;
  int64_t runs = 0;
  double newest = 0;  // Unix seconds
};

/// The facts that a run must share with the one to be predicted.
struct RunPlace {
  std::string host, device, build;
  int64_t local_ranks = 1, threads = 1;
  double since = 0;  // when its rates were calibrated
};

/// From the last ten runs at that place: of each kind of work the median over those that had some,
/// where a run counts half as much as the one five runs after it. Never below a quarter, or above
/// four times. Runs on a machine that others used do not count.
Refinement refinement_of(const std::vector<Check>& checks, const RunPlace& place);

/// "refined by 3 runs here, the newest on 2026-11-26 UTC": empty of none.
std::string words_of(const Refinement& refinement);

nlohmann::json to_json(const Refinement& refinement);
/// Throws nlohmann::json::exception.
Refinement refinement_from_json(const nlohmann::json& json);

}  // namespace heddle::cost
