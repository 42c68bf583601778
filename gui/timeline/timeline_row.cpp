#include "gui/timeline/timeline_row.h"

#include <algorithm>

namespace heddle::gui {

SpanTest textTest(const QString& text) {
  return [text](size_t, const telemetry::Span& span) {
    return QString::fromStdString(span.name).contains(text, Qt::CaseInsensitive) ||
           QString::fromStdString(span.module).contains(text, Qt::CaseInsensitive);
  };
}

Found::Found(const std::vector<TimelineRow>& rows, const SpanTest& test, Tested tested,
             const std::function<bool(const LaneRef&)>& shows)
    : lanes_(rows.size() * 2) {
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const Stream stream : {Stream::compute, Stream::communication}) {
      LaneHits& hits = lanes_[row * 2 + static_cast<size_t>(stream)];
      hits.before = count_;
      if (!rows[row].timeline) continue;
      const Lane& lane = rows[row].timeline->lane(stream);
      const bool isShown = shows({row, stream});
      std::vector<bool> labels;
      for (uint32_t label = 0; isShown && tested == Tested::everyLabel && label < lane.labels();
           ++label)
        labels.push_back(test(row, lane.labelled(label)));
      const auto isHit = [&](size_t span) {
        return labels.empty() ? test(row, lane.spans()[span]) : labels[lane.label(span)];
      };
      std::vector<bool> found(lane.spans().size());
      for (size_t i = 0; isShown && i < lane.spans().size(); ++i) {
        if (!isHit(i)) continue;
        found[i] = true;
        hits.spans.push_back(static_cast<uint32_t>(i));
        const Interval time = timeOf(lane.spans()[i]);
        const Interval shifted{time.begin + rows[row].shiftUs, time.end + rows[row].shiftUs};
        time_ = count_ == 0 ? shifted
                            : Interval{std::min(time_.begin, shifted.begin),
                                       std::max(time_.end, shifted.end)};
        ++count_;
      }
      hits.inPieces.reserve(lane.pieces().size() + 1);
      hits.inPieces.push_back(0);
      for (const Piece& piece : lane.pieces())
        hits.inPieces.push_back(hits.inPieces.back() + (found[piece.span] ? 1 : 0));
    }
  }
}

int64_t Found::before(const SpanRef& span) const {
  const LaneHits& lane = of(span.lane);
  return lane.before + (std::ranges::lower_bound(lane.spans, span.span) - lane.spans.begin());
}

bool Found::has(const SpanRef& span) const {
  return !empty() && std::ranges::binary_search(of(span.lane).spans, span.span);
}

SpanRef Found::at(int64_t number) const {
  // The last lane that begins at or before the number: lanes without hits share their begin.
  const auto lane = std::ranges::upper_bound(lanes_, number, {}, &LaneHits::before) - 1;
  const auto index = static_cast<size_t>(lane - lanes_.begin());
  return {{index / 2, static_cast<Stream>(index % 2)},
          lane->spans[static_cast<size_t>(number - lane->before)]};
}

}  // namespace heddle::gui
