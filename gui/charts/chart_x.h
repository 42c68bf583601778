// The x axis of a chart.
#pragma once

namespace heddle::gui {

enum class ChartX {
  step,
  tokens,
  time,
  clock
};  // time: since the run's first; clock: Unix seconds

}  // namespace heddle::gui
