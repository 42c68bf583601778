#include "gui/charts/chart_group.h"

#include <map>

#include "gui/charts/line_chart.h"

namespace heddle::gui {
namespace {

bool sharesAxis(const LineChart& a, const LineChart& b) { return a.xName() == b.xName(); }

}  // namespace

void ChartGroup::add(LineChart* chart) {
  charts_.push_back(chart);
  connect(chart, &QObject::destroyed, this, [this, chart] { std::erase(charts_, chart); });
  connect(chart, &LineChart::extentChanged, this, &ChartGroup::uniteExtents);
  connect(chart, &LineChart::xRangeChanged, this, [this, chart](double from, double to) {
    for (LineChart* other : charts_) {
      if (other != chart && sharesAxis(*other, *chart)) other->followXRange(from, to);
    }
  });
  connect(chart, &LineChart::allShown, this, [this, chart] {
    for (LineChart* other : charts_) {
      if (other != chart && sharesAxis(*other, *chart)) other->followAll();
    }
  });
  connect(chart, &LineChart::crosshairMoved, this, [this, chart](std::optional<double> x) {
    for (LineChart* other : charts_) {
      if (other != chart && sharesAxis(*other, *chart)) other->setCrosshair(x);
    }
  });
  uniteExtents();
}

void ChartGroup::uniteExtents() {
  std::map<QString, Range> extents;
  for (const LineChart* chart : charts_) {
    const Range extent = chart->xExtent();
    Range& all = extents[chart->xName()];
    if (extent.valid()) all.include(extent.low), all.include(extent.high);
  }
  for (LineChart* chart : charts_) chart->setGroupExtent(extents[chart->xName()]);
}

}  // namespace heddle::gui
