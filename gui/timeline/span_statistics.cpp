#include "gui/timeline/span_statistics.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::gui {
namespace {

Interval common(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Whether a span counts: zero length too, if it is inside.
bool isIn(const Interval& span, const Interval& range) {
  return span.begin < range.end && (span.end > range.begin || span.begin >= range.begin);
}

/// By label, without names.
std::vector<NameStatistics> countLane(const Lane& lane, const Interval& range) {
  std::vector<NameStatistics> counted(lane.labels());
  const auto& spans = lane.spans();
  for (size_t i = 0; i < spans.size() && spans[i].start_us < range.end; ++i) {
    const Interval time = timeOf(spans[i]);
    if (!isIn(time, range)) continue;
    NameStatistics one{.name = {}, .count = 1, .totalUs = common(time, range).length()};
    one.shortestUs = one.longestUs = one.totalUs;
    counted[lane.label(i)].add(one);
  }
  const auto& pieces = lane.pieces();
  for (size_t i = lane.firstPiece(range.begin); i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.time.begin >= range.end) break;
    if (piece.kind != Kind::exposed && piece.kind != Kind::waiting) continue;
    counted[lane.label(piece.span)].exposedUs +=
        std::max<int64_t>(common(piece.time, range).length(), 0);
  }
  return counted;
}

}  // namespace

void NameStatistics::add(const NameStatistics& others) {
  shortestUs = count == 0 ? others.shortestUs : std::min(shortestUs, others.shortestUs);
  longestUs = std::max(longestUs, others.longestUs);
  count += others.count;
  totalUs += others.totalUs;
  exposedUs += others.exposedUs;
}

std::string nameOf(const telemetry::Span& span, GroupBy by, const workbench::BucketNames* buckets) {
  switch (by) {
    case GroupBy::operators:
      return span.stream == telemetry::kWait     ? span.name + " (waiting)"
             : span.stream == telemetry::kBubble ? span.name + " (bubble)"
                                                 : span.name;
    case GroupBy::modules:
      return span.module.empty() ? "no module" : span.module;
    case GroupBy::buckets:
      return buckets ? buckets->of(span) : workbench::BucketNames().of(span);
  }
  return {};
}

std::vector<NameStatistics> statisticsByName(const std::vector<CountedRow>& rows, GroupBy by) {
  std::unordered_map<std::string, NameStatistics> byName;
  for (const CountedRow& row : rows) {
    for (const Stream stream : {Stream::compute, Stream::communication}) {
      const Lane& lane = row.timeline->lane(stream);
      const auto counted = countLane(lane, row.range);
      for (size_t label = 0; label < counted.size(); ++label) {
        if (counted[label].count == 0) continue;
        std::string name = nameOf(lane.labelled(static_cast<uint32_t>(label)), by, row.buckets);
        NameStatistics& sum = byName[name];
        sum.name = std::move(name);
        sum.add(counted[label]);
      }
    }
  }
  std::vector<NameStatistics> all;
  for (auto& [name, sum] : byName) all.push_back(std::move(sum));
  std::ranges::sort(all, [](const NameStatistics& a, const NameStatistics& b) {
    return a.totalUs != b.totalUs ? a.totalUs > b.totalUs : a.name < b.name;
  });
  return all;
}

}  // namespace heddle::gui
