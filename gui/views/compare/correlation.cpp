#include "gui/views/compare/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::gui {
namespace {

constexpr size_t kMinPairs = 3;

/// From 1; equal values share the mean of their ranks.
std::vector<double> ranksOfValues(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = (static_cast<double>(begin + end) + 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = shared;
  }
  return ranks;
}

}  // namespace

Correlation spearman(const std::vector<std::pair<double, double>>& pairs) {
  Correlation found{{}, pairs.size()};
  if (pairs.size() < kMinPairs) return found;
  std::vector<double> x, y;
  for (const auto& [first, second] : pairs) {
    x.push_back(first);
    y.push_back(second);
  }
  x = ranksOfValues(x);
  y = ranksOfValues(y);
  const double mean = (static_cast<double>(pairs.size()) + 1) / 2;
  double together = 0, alone = 0, other = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    together += (x[i] - mean) * (y[i] - mean);
    alone += (x[i] - mean) * (x[i] - mean);
    other += (y[i] - mean) * (y[i] - mean);
  }
  if (alone > 0 && other > 0) found.rho = together / std::sqrt(alone * other);
  return found;
}

}  // namespace heddle::gui
