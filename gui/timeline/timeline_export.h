// A timeline in files: the shown rows as Chrome trace JSON, the shown lanes as a picture.
#pragma once

#include <QString>
#include <vector>

#include "base/result.h"
#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

class TimelineWidget;

/// Every row with spans becomes a process of the trace. Any thread.
Result<> writeTrace(const std::vector<TimelineRow>& rows, const QString& path);
/// As it is on screen: PNG, or SVG where the name ends so. GUI thread.
Result<> writePicture(TimelineWidget& timeline, const QString& path);

}  // namespace heddle::gui
