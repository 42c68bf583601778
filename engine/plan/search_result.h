// The result of a search for a layout, as a document: written by the engine, drawn by Compose.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::plan {

/// A layout that was planned. Seconds of a step; bytes of the rank that needs most.
struct Found {
  std::vector<std::string> sets = {};  // "parallelism.tp=8", over the recipe that was given
  std::string words = {};  // "tp 8 × dp_shard 32, 2 sequences at a time, full recomputation"
  std::vector<int64_t> mesh = {};  // a degree for each axis, outermost first
  double step_seconds = 0;
  double tokens_per_second = 0;  // of all ranks
  double compute_seconds = 0, exposed_seconds = 0, bubble_seconds = 0;
  int64_t peak_bytes = 0;
  bool fits = false;

  bool operator==(const Found&) const = default;
};

/// A layout that one would try first, or that others have run, and why it was not chosen.
struct Alternative {
  std::string name;            // "FSDP over all ranks"
  std::optional<Found> found;  // nothing: the recipe cannot be run so
  std::string why;             // a sentence

  bool operator==(const Alternative&) const = default;
};

struct SearchResult {
  std::string hardware, hardware_words;
  int64_t ranks = 1;
  int64_t tokens_per_step = 0;
  int64_t limit_bytes = 0;          // 0: none is known
  int64_t margin_bytes = 0;         // that the device has besides: what is not known of it yet
  std::string never_measured = {};  // as plan::Document's
  std::vector<Found> front;         // fits; the fastest first, each of the others needs less memory
  std::optional<Found> given;       // the recipe as it is, where it can be planned
  std::string given_why;            // why not that
  std::vector<Alternative> alternatives;
  std::optional<Found> least;          // where nothing fits: what lacks least
  std::vector<std::string> closed_by;  // and what would close it
  int64_t candidates = 0;              // layouts that the recipe and what is fixed allow
  int64_t planned = 0;                 // of them; the others cannot be better by their bounds
  bool complete = false;               // false: cancelled
  double seconds = 0;                  // that the search took

  bool operator==(const SearchResult&) const = default;
};

nlohmann::ordered_json to_json(const Found& found);
Found found_from_json(const nlohmann::json& json);
nlohmann::ordered_json to_json(const SearchResult& result);
/// Unknown keys are ignored, missing ones keep their defaults. Throws nlohmann::json::exception for
/// what is of another type.
SearchResult search_result_from_json(const nlohmann::json& json);

}  // namespace heddle::plan
