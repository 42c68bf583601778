// A stretch of some lanes by name: how often, how long, how much of it exposed. No Qt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gui/timeline/timeline_data.h"
#include "workbench/bucket_names.h"

namespace heddle::gui {

enum class GroupBy : uint8_t { operators, modules, buckets };

/// The name under which a span counts. `buckets` may be null: nothing is known of any.
std::string nameOf(const telemetry::Span& span, GroupBy by, const workbench::BucketNames* buckets);

/// A stretch of a rank's step, in its own time.
struct CountedRow {
  const Timeline* timeline = nullptr;
  Interval range;
  const workbench::BucketNames* buckets = nullptr;
};

/// Spans of one name within the counted stretches; what is outside them does not count.
struct NameStatistics {
  std::string name;
  int64_t count = 0;
  int64_t totalUs = 0;
  int64_t shortestUs = 0, longestUs = 0;  // of one span
  int64_t exposedUs = 0;                  // compute idles
  int64_t meanUs() const { return count > 0 ? totalUs / count : 0; }
  /// The others' spans too, whatever their name.
  void add(const NameStatistics& others);
};

/// The longest total first. Linear in the spans.
std::vector<NameStatistics> statisticsByName(const std::vector<CountedRow>& rows, GroupBy by);

}  // namespace heddle::gui
