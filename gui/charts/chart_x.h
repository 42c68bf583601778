// The x axis of a chart.
#pragma once

namespace heddle::gui {

/// time: since the run's first step; clock: Unix seconds; metric: another one of the run, such as
/// its epoch, where it grows.
enum class ChartX { step, tokens, time, clock, metric };

}  // namespace heddle::gui
