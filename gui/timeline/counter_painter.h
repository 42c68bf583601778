// Paints a counter as a lane of its own.
#pragma once

#include <QPainter>

#include "gui/timeline/counter.h"
#include "gui/timeline/time_axis.h"

namespace heddle::gui {

/// `time`: of the step, on the axis; nothing is known outside it. `top`: the value at the lane's
/// upper edge. Memory is stacked by its uses.
void paintCounter(QPainter& painter, const TimeAxis& axis, const Counter& counter,
                  const Interval& time, double top, const QRect& rect);
/// Its name and its largest value, left of the lanes.
void paintCounterLabel(QPainter& painter, const Counter& counter, const QRect& rect);

}  // namespace heddle::gui
