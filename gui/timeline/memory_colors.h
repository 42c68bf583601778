// The colours of the uses of memory.
#pragma once

#include "engine/plan/memory_bytes.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

inline QColor colorOf(plan::Category category) {
  const Colors& c = colors();
  switch (category) {
    case plan::Category::parameters:
      return c.parameters;
    case plan::Category::gradients:
      return c.gradients;
    case plan::Category::optimizer:
      return c.optimizer;
    case plan::Category::activations:
      return c.activations;
    case plan::Category::communication:
      return c.buffers;
    case plan::Category::workspace:
      return blend(c.other, c.buffers, 0.4);
    case plan::Category::other:
      break;
  }
  return c.other;
}

}  // namespace heddle::gui
