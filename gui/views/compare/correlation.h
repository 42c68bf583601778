// Rank correlation: whether one number grows with another, however unevenly. Plain data, no Qt.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace heddle::gui {

struct Correlation {
  std::optional<double> rho;  // Spearman's, -1 to 1; none: fewer than 3 pairs, or one side is even
  size_t pairs = 0;           // that have both numbers
};

Correlation spearman(const std::vector<std::pair<double, double>>& pairs);

}  // namespace heddle::gui
