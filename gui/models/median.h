#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heddle::gui {

/// The larger one of two in the middle. There is at least one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace heddle::gui
