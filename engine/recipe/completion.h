// Completion of a recipe's text while it is typed: tables, the keys that may stand in them, values.
// Plain data. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/parse.h"
#include "engine/recipe/statements.h"

namespace heddle::recipe {

/// Something that may come at the cursor.
struct Candidate {
  std::string text;               // takes the piece's place
  std::string detail;             // a few words on it
  const KeyInfo* info = nullptr;  // of the key that it is, or is a value of
};

/// The piece of text at the cursor, and what may take its place.
struct Completion {
  enum class Expects { nothing, table, key, value };
  Expects expects = Expects::nothing;
  Span piece;
  std::string typed;                  // the piece up to the cursor, without quotes
  bool enumerated = false;            // values to choose from, not only the default
  std::vector<Candidate> candidates;  // the best first
};

/// `hardware`: the names that the catalogue has for hardware.name, with their titles as `detail`.
Completion complete(std::string_view text, size_t cursor,
                    const std::vector<Candidate>& hardware = {});

/// The key whose name or value is at that place; null: none.
const KeyInfo* key_at(std::string_view text, size_t place);

}  // namespace heddle::recipe
