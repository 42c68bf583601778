#include "engine/recipe/nearest.h"

#include <algorithm>

namespace heddle::recipe {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment, three rows of the usual table.
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // A table of the whole text of a word that is no word would only cost time.
  if (word.size() > 64) return "";
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    // A short word's first letter counts: "gpu" is not meant to be "cpu".
    if (word.size() <= 3 && !candidate.starts_with(word.substr(0, 1))) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best && distance < std::max(word.size(), candidate.size())) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace heddle::recipe
