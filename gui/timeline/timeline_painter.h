// Paints rows of timelines. Stateless: the widget keeps the picture as long as nothing changes.
#pragma once

#include <QRectF>
#include <QSize>
#include <QString>
#include <map>
#include <vector>

#include "gui/timeline/lane_choice.h"
#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_layout.h"
#include "gui/timeline/timeline_row.h"

class QPainter;

namespace heddle::gui {

struct TimelineScene {
  const std::vector<TimelineRow>& rows;
  const TimelineLayout& layout;
  const TimeAxis& axis;
  const Found& found;
  const LaneChoice& lanes;
  const std::vector<PathMark>& path;             // critical; empty: none is shown
  const std::map<QString, double>& counterTops;  // by name: of all rows, so that lanes compare
  QSize size;
  int scroll = 0;  // pixels of the rows above the viewport's top

  /// How far that row is scrolled.
  int scrollOf(size_t row) const { return layout.rows[row].sticky ? 0 : scroll; }
};

/// Rows and grid, without the axis.
void paintTimeline(QPainter& painter, const TimelineScene& scene);

/// The axis at the top; labels that would meet `taken` are left out.
void paintAxis(QPainter& painter, const TimelineScene& scene, const QRectF& taken);

/// A swatch of a kind as the legend shows it: hidden communication is hatched.
void paintSwatch(QPainter& painter, const QRect& rect, Kind kind);

}  // namespace heddle::gui
