// Paints a counter as a lane of its own.
#pragma once

#include <QPainter>

#include "gui/timeline/counter.h"
#include "gui/timeline/time_axis.h"

namespace heddle::gui {

/// `time`: of the step, on the axis; nothing is known outside it.
void paintCounter(QPainter& painter, const TimeAxis& axis, const Counter& counter,
                  const Interval& time, const QRect& rect);
/// Its name and its largest value, left of the lanes.
void paintCounterLabel(QPainter& painter, const Counter& counter, const QRect& rect);

}  // namespace heddle::gui
