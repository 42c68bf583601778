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

/// The recipe's predicted plan?
struct PlanQuestion : Subject {
  std::string executor = "heddle";
  std::map<std::string, double> numbers;  // of the catalogue, changed
  bool timeline = false;
  bool closes = true;  // where the plan does not fit: with changes that make it fit; takes longer

  bool operator==(const PlanQuestion&) const = default;
};

/// The layouts that train it fastest?
struct SearchQuestion : Subject {
  int64_t memory_limit = 0;        // bytes of a rank; 0: the device's
  std::vector<std::string> fixes;  // key=value: values that stay
  std::vector<int64_t> counts;     // of ranks: the fastest layout of each, in place of one's front
  double tokens = 0;               // for `counts`: that are to be trained; 0: not asked

  bool operator==(const SearchQuestion&) const = default;
};

/// Hardware that plans can be made for?
struct CatalogueQuestion {
  bool operator==(const CatalogueQuestion&) const = default;
};

/// The search of that id may end with the results so far; no answer of its own.
struct Cancel {
  uint64_t search = 0;
  bool operator==(const Cancel&) const = default;
};

using Question = std::variant<PlanQuestion, SearchQuestion, CatalogueQuestion, Cancel>;

struct Asked {
  std::optional<uint64_t> id;
  std::string key;  // of plans: a newer question of the same key takes an older one's place
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

/// A newer question has taken its place.
struct Cancelled {};

struct Answer {
  std::optional<uint64_t> id;      // the question's
  std::optional<double> progress;  // 0 to 1, of a search that goes on: more answers follow
  std::variant<Document, std::vector<Fault>, std::vector<HardwareEntry>, SearchResult, RankCounts,
               Cancelled, Error>
      reply = Error{};
};

/// Both as one line, without its end.
std::string line_of(const Asked& asked);
std::string line_of(const Answer& answer);

/// A line that is no question becomes the answer that says so, and what would be right.
tl::expected<Asked, Answer> read_question(std::string_view line);
/// A line that is no answer becomes one with an error.
Answer read_answer(std::string_view line);
/// The id of an answer's line, without reading the rest of it.
std::optional<uint64_t> answer_id(std::string_view line);

}  // namespace heddle::plan
