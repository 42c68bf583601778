#include "gui/timeline/counter.h"

namespace heddle::gui {

double Counter::most() const {
  double most = 0;
  for (const Point& point : points) most = std::max(most, point.value);
  return most;
}

size_t Counter::after(int64_t timeUs) const {
  const auto found = std::ranges::upper_bound(points, timeUs, {}, &Point::timeUs);
  return static_cast<size_t>(found - points.begin());
}

double Counter::at(int64_t timeUs) const {
  const size_t next = after(timeUs);
  return next == 0 ? 0 : points[next - 1].value;
}

std::optional<plan::MemoryBytes> Counter::partsAt(int64_t timeUs) const {
  const size_t next = after(timeUs);
  return next == 0 || parts.empty() ? std::nullopt : std::optional(parts[next - 1]);
}

}  // namespace heddle::gui
