#include "gui/views/compare/timeline_alignment.h"

#include <algorithm>

namespace heddle::gui {

std::optional<int64_t> anchorOf(const Timeline& timeline, AlignedAt at,
                                const std::function<bool(const telemetry::Span&)>& chosen) {
  std::optional<int64_t> found;
  const auto note = [&](int64_t begin) { found = found ? std::min(*found, begin) : begin; };
  switch (at) {
    case AlignedAt::step:
      return 0;
    case AlignedAt::backward:
    case AlignedAt::optimizer: {
      const Kind phase = at == AlignedAt::backward ? Kind::backward : Kind::optimizer;
      for (const PhaseRun& run : timeline.phases())
        if (run.phase == phase) note(run.time.begin);
      return found;
    }
    case AlignedAt::chosen:
      for (const Stream stream : {Stream::compute, Stream::communication})
        for (const telemetry::Span& span : timeline.lane(stream).spans())
          if (chosen && chosen(span)) note(span.start_us);
      return found;
  }
  return found;
}

std::vector<int64_t> shiftsFor(const std::vector<std::optional<int64_t>>& anchors) {
  int64_t latest = 0;
  for (const auto& anchor : anchors) latest = std::max(latest, anchor.value_or(0));
  std::vector<int64_t> shifts;
  for (const auto& anchor : anchors) shifts.push_back(anchor ? latest - *anchor : 0);
  return shifts;
}

}  // namespace heddle::gui
