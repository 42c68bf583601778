// The middle of numbers that do not count alike.
#pragma once

#include <utility>
#include <vector>

namespace heddle::cost {

/// The least number that, with those below it, has half of all weight. `pairs`: number and weight,
/// one at least.
double weighted_median(std::vector<std::pair<double, double>> pairs);

}  // namespace heddle::cost
