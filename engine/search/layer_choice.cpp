#include "engine/search/layer_choice.h"

#include <algorithm>
#include <limits>

namespace heddle::search {

std::optional<std::vector<size_t>> choose_ways(const std::vector<std::vector<LayerWay>>& layers,
                                               int64_t memory, int64_t steps) {
  if (memory < 0) return std::nullopt;
  const int64_t step = std::max<int64_t>(memory / std::max<int64_t>(steps, 1), 1);
  const auto sizes = static_cast<size_t>(memory / step) + 1;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> least(sizes, 0.0);   // f(i − 1, e)
  std::vector<std::vector<size_t>> taken;  // by layer and e
  for (const std::vector<LayerWay>& ways : layers) {
    std::vector<double> next(sizes, kNever);
    std::vector<size_t>& way = taken.emplace_back(sizes, 0);
    for (size_t w = 0; w < ways.size(); ++w) {
      const auto bytes = static_cast<size_t>((ways[w].bytes + step - 1) / step);
      for (size_t e = bytes; e < sizes; ++e) {
        const double seconds = least[e - bytes] + ways[w].seconds;
        if (seconds >= next[e]) continue;
        next[e] = seconds;
        way[e] = w;
      }
    }
    least = std::move(next);
  }
  if (least.back() == kNever) return std::nullopt;
  std::vector<size_t> chosen(layers.size());
  size_t left = sizes - 1;
  for (size_t i = layers.size(); i-- > 0;) {
    chosen[i] = taken[i][left];
    left -= static_cast<size_t>((layers[i][chosen[i]].bytes + step - 1) / step);
  }
  return chosen;
}

}  // namespace heddle::search
