// The menu of a timeline and its rows. GUI thread only.
#pragma once

#include <QMenu>
#include <optional>

#include "gui/timeline/timeline_widget.h"

namespace heddle::gui {

/// Adds the entries; those of one row where `row` is given.
void fillTimelineMenu(QMenu& menu, TimelineWidget& timeline, std::optional<size_t> row);

}  // namespace heddle::gui
