// A number over a step, drawn as a lane: bytes of memory, bytes in flight. Plain data.
#pragma once

#include <QString>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/memory_bytes.h"
#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

struct Counter {
  struct Point {
    int64_t timeUs = 0;
    double value = 0;  // bytes, from here on
    bool operator==(const Point&) const = default;
  };

  QString name;
  std::vector<Point> points;                  // by time
  std::vector<plan::MemoryBytes> parts = {};  // of each point, where it is memory
  double most() const;
  /// At that time; 0 before the first point.
  double at(int64_t timeUs) const;
  /// The uses of memory at that time; none where they are not known.
  std::optional<plan::MemoryBytes> partsAt(int64_t timeUs) const;

 private:
  size_t after(int64_t timeUs) const;
};

/// Bytes of the transfers under way, by `bytesOf` a span (0: not known).
template <typename BytesOf>
std::vector<Counter::Point> bytesInFlight(const Lane& lane, const BytesOf& bytesOf) {
  std::vector<Counter::Point> changes;
  for (const telemetry::Span& span : lane.spans()) {
    if (span.stream != telemetry::kTransfer) continue;
    const auto bytes = static_cast<double>(bytesOf(span));
    if (bytes <= 0) continue;
    changes.push_back({timeOf(span).begin, bytes});
    changes.push_back({timeOf(span).end, -bytes});
  }
  std::ranges::stable_sort(changes, {}, &Counter::Point::timeUs);
  std::vector<Counter::Point> sums;
  double now = 0;
  for (const Counter::Point& change : changes) {
    now += change.value;
    if (!sums.empty() && sums.back().timeUs == change.timeUs)
      sums.back().value = now;
    else
      sums.push_back({change.timeUs, now});
  }
  return sums;
}

}  // namespace heddle::gui
