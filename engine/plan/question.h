// The wire of `heddle-engine plan --serve`: a line of JSON for each question and each answer. The
// engine and the window read and write it with these functions, and what a line leaves out has the
// defaults below. Any thread. No LibTorch here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/plan/document.h"
#include "engine/plan/rank_counts.h"
#include "engine/plan/search_result.h"

namespace heddle::plan {

/// A recipe on a machine.
struct Subject {
  std::string text;                  // TOML
  std::string file = "recipe.toml";  // names it in faults; relative paths start at its folder
  std::vector<std::string> sets;     // key=value
  int64_t ranks = 0;                 // 0: the recipe's own
  std::string hardware;              // of the catalogue; empty: the recipe's

  bool operator==(const Subject&) const = default;
};

/// Asks for the recipe's predicted plan.
struct PlanQuestion : Subject {
  std::string executor = "heddle";
  std::map<std::string, double> numbers;  // of the catalogue, overridden
  bool timeline = false;
  bool closes = true;  // if the plan does not fit: also finds changes that make it fit; slower

  bool operator==(const PlanQuestion&) const = default;
};

/// Asks for the layouts that train it fastest.
struct SearchQuestion : Subject {
  int64_t memory_limit = 0;        // bytes of a rank; 0: the device's
  std::vector<std::string> fixes;  // key=value: not searched
  std::vector<int64_t> counts;     // of ranks: finds the fastest layout for each, not one's front
  double tokens = 0;               // with `counts`: how many to train; 0: not asked

  bool operator==(const SearchQuestion&) const = default;
};

/// Asks for the hardware that plans can be made for.
struct CatalogueQuestion {
  bool operator==(const CatalogueQuestion&) const = default;
};

/// Ends the search of that id with its results so far; has no answer of its own.
struct Cancel {
  uint64_t search = 0;
  bool operator==(const Cancel&) const = default;
};

using Question = std::variant<PlanQuestion, SearchQuestion, CatalogueQuestion, Cancel>;

struct Asked {
  std::optional<uint64_t> id;
  std::string key;  // of plans: a newer question with the same key replaces an older one
  Question question;

  bool operator==(const Asked&) const = default;
};

/// A fault of the recipe.
struct Fault {
  int line = 0;  // 1-based; 0: none
  int column = 0;
  std::string key, text, valid;

  bool operator==(const Fault&) const = default;
};

struct HardwareEntry {
  std::string name;   // as recipes write it: "h100-sxm"
  std::string words;  // "H100 SXM 80 GB, 8 a node"

  bool operator==(const HardwareEntry&) const = default;
};

/// A newer question has replaced it.
struct Cancelled {};

struct Answer {
  std::optional<uint64_t> id;      // the question's
  std::optional<double> progress;  // 0 to 1, of a search that goes on: more answers follow
  std::variant<Document, std::vector<Fault>, std::vector<HardwareEntry>, SearchResult, RankCounts,
               Cancelled, Error>
      reply = Error{};
};

/// A question or an answer as one line, without a line break.
std::string line_of(const Asked& asked);
std::string line_of(const Answer& answer);

/// If the line is no question: the answer that says why, and what would be valid.
tl::expected<Asked, Answer> read_question(std::string_view line);
/// A line that is no answer becomes one with an error.
Answer read_answer(std::string_view line);
/// The id of an answer's line, without reading the rest of it.
std::optional<uint64_t> answer_id(std::string_view line);

}  // namespace heddle::plan
