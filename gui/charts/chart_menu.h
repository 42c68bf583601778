// A chart's menu: its values as a table; copies and saves the picture and the values.
#pragma once

#include <QMenu>
#include <functional>

#include "gui/theme/icons.h"

namespace heddle::gui {

class LineChart;

/// `file`: the proposed name, without an extension. `say`: shows the result.
void addChartExports(QMenu& menu, LineChart& chart, const QString& file,
                     const std::function<void(const QString&, Tone)>& say);

}  // namespace heddle::gui
