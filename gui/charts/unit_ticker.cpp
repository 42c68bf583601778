#include "gui/charts/unit_ticker.h"

#include <algorithm>
#include <cmath>

namespace heddle::gui {

void UnitTicker::setRange(const QCPRange& range) {
  scaled_ = scaledUnit(unit_, std::max(std::abs(range.lower), std::abs(range.upper)));
}

double UnitTicker::getTickStep(const QCPRange& range) {
  const double wanted = range.size() / scaled_.scale / tickCount();
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= wanted) step = factor * power;
  }
  if (whole_) step = std::max(1.0, step);
  step_ = step;
  return step * scaled_.scale;
}

QString UnitTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  return tickText(tick / scaled_.scale, step_);
}

}  // namespace heddle::gui
