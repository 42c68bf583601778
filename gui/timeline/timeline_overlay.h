// The moving parts over a timeline's picture: the axis with the selected stretch, the span under
// the pointer with its tooltip, the current span.
#pragma once

#include <QPoint>
#include <optional>

#include "gui/timeline/timeline_painter.h"

namespace heddle::gui {

struct TimelineOverlay {
  std::optional<Interval> selection;
  std::optional<SpanRef> current;
  std::optional<SpanRef> hovered;
  std::optional<QPoint> pointer;
};

void paintOverlay(QPainter& painter, const TimelineScene& scene, const TimelineOverlay& overlay);

}  // namespace heddle::gui
