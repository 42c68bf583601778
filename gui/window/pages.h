// The pages of the window, listed once: rail, shortcuts, actions, palette and `heddle render` loop
// over the list.
#pragma once

#include <vector>

#include "gui/page.h"

namespace heddle::gui {

/// In the order of the rail.
const std::vector<PageEntry>& pages();

}  // namespace heddle::gui
