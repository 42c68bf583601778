#include "gui/timeline/timeline_row.h"

namespace heddle::gui {
namespace {

constexpr std::array kStreams{Stream::compute, Stream::communication};

bool matches(const telemetry::Span& span, const QString& text) {
  return QString::fromStdString(span.name).contains(text, Qt::CaseInsensitive) ||
         QString::fromStdString(span.module).contains(text, Qt::CaseInsensitive);
}

}  // namespace

SearchHits search(const std::vector<TimelineRow>& rows, const QString& text) {
  SearchHits hits;
  if (text.isEmpty()) return hits;
  hits.resize(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].timeline) continue;
    for (const Stream stream : kStreams) {
      const Lane& lane = rows[row].timeline->lane(stream);
      auto& counts = hits[row][static_cast<size_t>(stream)];
      counts.reserve(lane.pieces().size() + 1);
      counts.push_back(0);
      for (const Piece& piece : lane.pieces()) {
        counts.push_back(counts.back() + (matches(lane.spans()[piece.span], text) ? 1 : 0));
      }
    }
  }
  return hits;
}

int64_t countHits(const std::vector<TimelineRow>& rows, const QString& text) {
  if (text.isEmpty()) return 0;
  int64_t count = 0;
  for (const TimelineRow& row : rows) {
    if (!row.timeline) continue;
    for (const Stream stream : kStreams) {
      for (const telemetry::Span& span : row.timeline->lane(stream).spans()) {
        count += matches(span, text) ? 1 : 0;
      }
    }
  }
  return count;
}

}  // namespace heddle::gui
