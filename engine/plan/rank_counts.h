// How many ranks a recipe is best trained on: what searches have found for several numbers of them,
// as a document. Written by the engine, drawn by Compose.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/plan/search_result.h"

namespace heddle::plan {

struct RankCount {
  int64_t ranks = 1;
  int64_t tokens_per_step = 0;
  std::optional<Found> best = {};  // the fastest that fits
  std::string why = {};            // why there is none

  bool operator==(const RankCount&) const = default;
};

struct RankCounts {
  std::string hardware, hardware_words;
  int64_t limit_bytes = 0;                  // of a rank; 0: none is known
  std::optional<double> usd_per_rank_hour;  // where the hardware's entry has a price
  std::string price_source;                 // of it
  double tokens = 0;                        // that are to be trained; 0: not asked
  std::vector<RankCount> counts;            // in the order in which they were asked for
  bool complete = false;                    // false: cancelled, or not done yet
  double seconds = 0;                       // that the searches took

  bool operator==(const RankCounts&) const = default;
};

/// Tokens/s of a rank as a share of a rank's at the least number of ranks that has a layout. None
/// where `count` has no layout.
std::optional<double> efficiency(const RankCounts& all, const RankCount& count);
/// None without a price, or a layout.
std::optional<double> usd_per_million_tokens(const RankCounts& all, const RankCount& count);
/// For `all.tokens`; none without them, or a layout.
std::optional<double> training_seconds(const RankCounts& all, const RankCount& count);
std::optional<double> training_usd(const RankCounts& all, const RankCount& count);

/// "8, 16, 64" or "8-64", which doubles from one to the other; ascending, each once. Errors: what
/// is no number of ranks, more than 32 of them.
Result<std::vector<int64_t>> parse_rank_counts(std::string_view text);
/// "15T", "300 B", "2.5M" or "1e9" tokens. Errors: what is no such number.
Result<double> parse_tokens(std::string_view text);

/// With what the functions above make of it.
nlohmann::ordered_json to_json(const RankCounts& counts);
/// As `search_result_from_json`.
RankCounts rank_counts_from_json(const nlohmann::json& json);

}  // namespace heddle::plan
