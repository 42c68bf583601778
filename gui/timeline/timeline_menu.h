// What can be done with a timeline and its rows, as a menu. GUI thread only.
#pragma once

#include <QMenu>
#include <optional>

#include "gui/timeline/timeline_widget.h"

namespace heddle::gui {

/// Adds the entries; those of one row where `row` is given.
void fillTimelineMenu(QMenu& menu, TimelineWidget& timeline, std::optional<size_t> row);

}  // namespace heddle::gui
