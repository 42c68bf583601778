#include "gui/timeline/timeline_row.h"

#include <algorithm>

namespace heddle::gui {
namespace {

constexpr std::array kStreams{Stream::compute, Stream::communication};

}  // namespace

SpanTest textTest(const QString& text) {
  return [text](size_t, const telemetry::Span& span) {
    return QString::fromStdString(span.name).contains(text, Qt::CaseInsensitive) ||
           QString::fromStdString(span.module).contains(text, Qt::CaseInsensitive);
  };
}

SearchHits search(const std::vector<TimelineRow>& rows, const SpanTest& test) {
  SearchHits hits(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].timeline) continue;
    for (const Stream stream : kStreams) {
      const Lane& lane = rows[row].timeline->lane(stream);
      auto& counts = hits[row][static_cast<size_t>(stream)];
      counts.reserve(lane.pieces().size() + 1);
      counts.push_back(0);
      for (const Piece& piece : lane.pieces())
        counts.push_back(counts.back() + (test(row, lane.spans()[piece.span]) ? 1 : 0));
    }
  }
  return hits;
}

Found findSpans(const std::vector<TimelineRow>& rows, const SpanTest& test) {
  Found found;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].timeline) continue;
    for (const Stream stream : kStreams)
      for (const telemetry::Span& span : rows[row].timeline->lane(stream).spans()) {
        if (!test(row, span)) continue;
        const int64_t begin = span.start_us + rows[row].shiftUs, end = begin + span.duration_us;
        found.time = found.count == 0 ? Interval{begin, end}
                                      : Interval{std::min(found.time.begin, begin),
                                                 std::max(found.time.end, end)};
        ++found.count;
      }
  }
  return found;
}

}  // namespace heddle::gui
