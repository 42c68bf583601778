#include "engine/cost/smooth.h"

#include <algorithm>

namespace heddle::cost {
namespace {

// By what they are of another number at each size.
template <typename Whole>
Curve smooth_shares(Curve curve, const Whole& whole) {
  std::vector<double> shares;
  for (const CurvePoint& point : curve) shares.push_back(point.seconds / whole(point.bytes));
  shares = running_median(shares);
  for (size_t i = 0; i < curve.size(); ++i) curve[i].seconds = shares[i] * whole(curve[i].bytes);
  return curve;
}

}  // namespace

std::vector<double> running_median(const std::vector<double>& numbers) {
  std::vector<double> medians = numbers;
  for (size_t i = 1; i + 1 < numbers.size(); ++i)
    medians[i] = std::clamp(numbers[i], std::min(numbers[i - 1], numbers[i + 1]),
                            std::max(numbers[i - 1], numbers[i + 1]));
  return medians;
}

CollectiveTimes smooth(const CollectiveTimes& measured) {
  CollectiveTimes times;
  times.alone =
      smooth_shares(measured.alone, [](int64_t bytes) { return static_cast<double>(bytes); });
  const auto alone = [&](int64_t bytes) { return at_bytes(times.alone, bytes); };
  times.beside_compute = smooth_shares(measured.beside_compute, alone);
  times.lost = smooth_shares(measured.lost, alone);
  return times;
}

}  // namespace heddle::cost
