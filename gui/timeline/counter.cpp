#include "gui/timeline/counter.h"

namespace heddle::gui {

double Counter::most() const {
  double most = 0;
  for (const Point& point : points) most = std::max(most, point.value);
  return most;
}

double Counter::at(int64_t timeUs) const {
  const auto after = std::ranges::upper_bound(points, timeUs, {}, &Point::timeUs);
  return after == points.begin() ? 0 : (after - 1)->value;
}

}  // namespace heddle::gui
