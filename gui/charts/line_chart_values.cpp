// A chart's curves read off at one x: the crosshair's text.
#include <QDateTime>
#include <algorithm>
#include <cmath>

#include "gui/charts/crosshair.h"
#include "gui/charts/line_chart.h"
#include "gui/format.h"
#include "gui/theme/qcustomplot.h"

namespace heddle::gui {

std::optional<double> LineChart::sampleNear(double x) const {
  std::optional<double> nearest;
  for (const Curve& curve : curves_) {
    if (curve.series.empty()) continue;
    const double at = curve.series.x()[static_cast<size_t>(curve.series.nearest(x))];
    if (!nearest || std::abs(at - x) < std::abs(*nearest - x)) nearest = at;
  }
  return nearest;
}

QString LineChart::placeText(double x) const {
  if (clock_)
    return QDateTime::fromMSecsSinceEpoch(std::llround(x * 1000))
        .toString(QStringLiteral("d MMM HH:mm:ss"));
  return xName_ + QLatin1Char(' ') + format::withUnit(xUnit_, x);
}

/// The curve's value at its sample nearest to x: smoothed where it is, raw after it.
QString LineChart::valueText(const Curve& curve, double x) const {
  const auto index = static_cast<size_t>(curve.series.nearest(x));
  const auto text = [this](double value) { return format::withUnit(unit_, value); };
  const QString raw = text(curve.series.y()[index]);
  if (!curve.members.empty())
    return tr("%1, %2 to %3, n %4")
        .arg(raw, text(curve.series.low()[index]), text(curve.series.high()[index]))
        .arg(curve.members[index]);
  if (curve.smooth.empty()) return raw;
  const QString smooth = text(curve.smooth.y()[static_cast<size_t>(curve.smooth.nearest(x))]);
  return curves_.size() == 1 ? tr("raw %1, smooth %2").arg(raw, smooth)
                             : tr("%1, raw %2").arg(smooth, raw);
}

/// The place, then the curves from the highest value to the lowest.
QVector<CrosshairLine> LineChart::crosshairLines(double x) const {
  QVector<CrosshairLine> lines;
  const auto place = sampleNear(x);
  if (!place) return lines;
  const QString placed = placeText(*place);
  for (const Curve& curve : curves_) {
    const auto known = curve.series.x();
    if (known.empty() || *place < known.front() || *place > known.back()) continue;
    const auto index = static_cast<size_t>(curve.series.nearest(*place));
    const QString called = format::shortName(curve.name.toStdString());
    const bool alone = curves_.size() == 1 && curve.members.empty();
    const QString name = alone || called.isEmpty() ? QString() : called + QLatin1Char(' ');
    // A sample of a long run covers a few steps, and two runs' samples may cover different ones.
    const QString elsewhere =
        placeText(known[index]) == placed ? QString() : tr(" at %1").arg(placeText(known[index]));
    const Series& shown = curve.smooth.empty() ? curve.series : curve.smooth;
    const double y =
        plot_->yAxis->coordToPixel(shown.y()[static_cast<size_t>(shown.nearest(*place))]);
    lines.append({name + valueText(curve, *place) + elsewhere, curve.color, curve.marker, y});
  }
  // Pixels grow downwards; what is not finite comes last.
  std::ranges::stable_sort(lines, [](const CrosshairLine& a, const CrosshairLine& b) {
    return std::isfinite(a.y) && (!std::isfinite(b.y) || a.y < b.y);
  });
  lines.prepend({placed});
  return lines;
}

QStringList LineChart::crosshairText(double x) const {
  QStringList text;
  for (const CrosshairLine& line : crosshairLines(x)) text << line.text;
  return text;
}

}  // namespace heddle::gui
