// The one place where QCustomPlot gets Heddle's look.
#pragma once

class QCustomPlot;
class QCPAxis;

namespace heddle::gui {

/// Colours, fonts, grid and axes of every plot, now and after each change of theme. Axes stay
/// quiet: no frame, horizontal grid lines, digits in mono. Call once for each new plot.
void stylePlot(QCustomPlot* plot);

}  // namespace heddle::gui
