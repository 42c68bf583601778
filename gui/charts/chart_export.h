// A chart out of the window: as a picture and as values, in a file and on the clipboard.
#pragma once

#include <QImage>
#include <QString>

#include "base/result.h"

namespace heddle::gui {

class LineChart;

/// Twice as fine as on screen.
QImage pictureOf(LineChart& chart);

/// As .png, .svg or .csv: the file's name says which.
Result<> saveChart(LineChart& chart, const QString& file);

// To the clipboard; values with tabs between, for spreadsheets.
void copyPicture(LineChart& chart);
void copyValues(const LineChart& chart);

}  // namespace heddle::gui
