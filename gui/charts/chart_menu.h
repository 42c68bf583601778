// A chart out of the window, as a menu: its values as a table, both on the clipboard and in files.
#pragma once

#include <QMenu>
#include <functional>

#include "gui/theme/icons.h"

namespace heddle::gui {

class LineChart;

/// `file`: the proposed name, without an ending. `say`: shows what came of it.
void addChartExports(QMenu& menu, LineChart& chart, const QString& file,
                     const std::function<void(const QString&, Tone)>& say);

}  // namespace heddle::gui
