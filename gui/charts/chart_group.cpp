#include "gui/charts/chart_group.h"

#include <algorithm>

#include "gui/charts/line_chart.h"

namespace heddle::gui {

void ChartGroup::add(LineChart* chart) {
  charts_.push_back(chart);
  connect(chart, &QObject::destroyed, this, [this, chart] { std::erase(charts_, chart); });
  connect(chart, &LineChart::extentChanged, this, &ChartGroup::uniteExtents);
  connect(chart, &LineChart::xRangeChanged, this, [this, chart](double from, double to) {
    for (LineChart* other : charts_) {
      if (other != chart) other->setXRange(from, to);
    }
  });
  connect(chart, &LineChart::allShown, this, [this, chart] {
    for (LineChart* other : charts_) {
      if (other != chart) other->showAll();
    }
  });
  connect(chart, &LineChart::crosshairMoved, this, [this, chart](std::optional<double> x) {
    for (LineChart* other : charts_) {
      if (other != chart) other->setCrosshair(x);
    }
  });
  uniteExtents();
}

void ChartGroup::uniteExtents() {
  Range all;
  for (const LineChart* chart : charts_) {
    const Range extent = chart->xExtent();
    if (extent.valid()) all.include(extent.low), all.include(extent.high);
  }
  for (LineChart* chart : charts_) chart->setGroupExtent(all);
}

}  // namespace heddle::gui
