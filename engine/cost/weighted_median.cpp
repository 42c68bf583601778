#include "engine/cost/weighted_median.h"

#include <algorithm>

namespace heddle::cost {

double weighted_median(std::vector<std::pair<double, double>> pairs) {
  std::ranges::sort(pairs);
  double total = 0, below = 0;
  for (const auto& [number, weight] : pairs) total += weight;
  for (const auto& [number, weight] : pairs)
    if ((below += weight) >= total / 2) return number;
  return pairs.back().first;
}

}  // namespace heddle::cost
