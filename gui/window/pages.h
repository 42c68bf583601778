// The pages of the window, listed once: rail, shortcuts, actions, palette and `heddle render` loop
// over the list.
#pragma once

#include <vector>

#include "gui/page.h"

namespace heddle::gui {

/// In the order of the rail; at the end those that are not in it.
const std::vector<PageEntry>& pages();

}  // namespace heddle::gui
