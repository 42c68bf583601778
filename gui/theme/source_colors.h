// The colours of a run's sources of data, the same in Compose, Launch and Live.
#pragma once

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

/// By its place; beyond eight they repeat, and the names next to them distinguish.
inline QColor sourceColor(size_t source) {
  return runStroke(static_cast<int>(source % kRunColors), Theme::instance().scheme()).color;
}

}  // namespace heddle::gui
