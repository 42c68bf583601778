#include "engine/train/patience.h"

#include <algorithm>

namespace heddle::train {
namespace {

constexpr double kTimesTheStep = 20;
constexpr double kMinSeconds = 60;
constexpr size_t kRemembered = 8;

}  // namespace

std::chrono::milliseconds in_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3));
}

void Patience::took(double seconds) {
  last_.push_back(seconds);
  if (last_.size() > kRemembered) last_.pop_front();
}

std::chrono::milliseconds Patience::limit(bool saves) const {
  double seconds = timeouts_.start;
  if (!last_.empty()) {
    const double slowest = *std::ranges::max_element(last_);
    seconds = timeouts_.step > 0 ? timeouts_.step : std::max(kMinSeconds, kTimesTheStep * slowest);
  }
  return in_milliseconds(saves ? seconds + timeouts_.checkpoint : seconds);
}

}  // namespace heddle::train
