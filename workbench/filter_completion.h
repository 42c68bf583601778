// Completion of a filter while it is typed: names, then signs, then values, then how it goes on.
// Plain data. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workbench/run_values.h"

namespace heddle::workbench {

/// Something that may come at the cursor.
struct FilterCandidate {
  std::string text;    // put in place of the piece
  std::string detail;  // a few words on it
};

/// A piece of the text next to the cursor, and what may take its place.
struct FilterCompletion {
  enum class Expects { name, sign, value, join };
  Expects expects = Expects::name;
  size_t at = 0, length = 0;
  std::string typed;  // the piece, without quotes
  std::string key;    // of which a value is expected
};

/// The piece that is being typed where the cursor is.
FilterCompletion completion_at(std::string_view text, size_t cursor);

/// Candidates that fit the typed piece, the best first, at most `limit`. `values`: the texts that
/// occur for the completion's key; of use where a value is expected only.
std::vector<FilterCandidate> candidates(const FilterCompletion& completion, const RunKeys& keys,
                                        const std::vector<std::string>& values, size_t limit = 12);

}  // namespace heddle::workbench
