#include "engine/cost/refinement.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cost/weighted_median.h"

namespace heddle::cost {
namespace {

constexpr int64_t kRuns = 10;
constexpr double kHalfLife = 5;  // runs
constexpr double kMax = 4;

bool is_at(const Check& check, const RunPlace& place) {
  return check.host == place.host && check.device == place.device && check.build == place.build &&
         check.local_ranks == place.local_ranks && check.threads == place.threads &&
         check.time >= place.since && check.others == 0;
}

}  // namespace

Refinement refinement_of(const std::vector<Check>& checks, const RunPlace& place) {
  Refinement refinement;
  std::map<std::string, std::vector<std::pair<double, double>>> ratios;
  for (auto check = checks.rbegin(); check != checks.rend() && refinement.runs < kRuns; ++check) {
    if (check->work.empty() || !is_at(*check, place)) continue;
    const double weight = std::exp2(-static_cast<double>(refinement.runs) / kHalfLife);
    for (const auto& [name, ratio] : check->work)
      if (std::isfinite(ratio) && ratio > 0) ratios[name].emplace_back(ratio, weight);
    refinement.newest = std::max(refinement.newest, check->time);
    ++refinement.runs;
  }
  for (auto& [name, of_runs] : ratios)
    refinement.factors[name] = std::clamp(weighted_median(std::move(of_runs)), 1 / kMax, kMax);
  return refinement;
}

std::string words_of(const Refinement& refinement) {
  if (refinement.runs == 0) return {};
  return fmt::format("refined by {} here, the newest on {:%F} UTC",
                     refinement.runs == 1 ? "a run" : fmt::format("{} runs", refinement.runs),
                     fmt::gmtime(static_cast<time_t>(refinement.newest)));
}

nlohmann::json to_json(const Refinement& refinement) {
  return {
      {"factors", refinement.factors}, {"runs", refinement.runs}, {"newest", refinement.newest}};
}

Refinement refinement_from_json(const nlohmann::json& read) {
  return {read.at("factors"), read.at("runs"), read.at("newest")};
}

}  // namespace heddle::cost
