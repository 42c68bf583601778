#include "gui/charts/chart_values.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "gui/charts/line_chart.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {
namespace {

QString words(const char* text) { return QCoreApplication::translate("ChartValues", text); }

std::optional<double> sampleAt(const Series& series, std::span<const double> values, double x) {
  const auto at = std::ranges::lower_bound(series.x(), x) - series.x().begin();
  const auto i = static_cast<size_t>(at);
  return i < series.size() && series.x()[i] == x ? std::optional(values[i]) : std::nullopt;
}

void addCurve(ChartValues& all, const QString& name, const Series& series,
              std::span<const double> values) {
  ChartValues::Curve curve{name, {}};
  for (const double x : all.x) curve.values.push_back(sampleAt(series, values, x));
  all.curves.push_back(std::move(curve));
}

QString exact(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
  return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

}  // namespace

QString titleOf(const LineChart& chart) {
  return chart.title().isEmpty() ? chart.accessibleName() : chart.title();
}

ChartValues valuesOf(const LineChart& chart) {
  ChartValues all;
  all.xName = chart.xName();
  const Range shown = chart.xRange();
  for (int i = 0; i < chart.curves(); ++i)
    for (const Series* series : {&chart.series(i), &chart.smooth(i)})
      for (const double x : series->x())
        if (x >= shown.low && x <= shown.high) all.x.push_back(x);
  std::ranges::sort(all.x);
  const auto repeated = std::ranges::unique(all.x);
  all.x.erase(repeated.begin(), repeated.end());
  for (int i = 0; i < chart.curves(); ++i) {
    const Series& series = chart.series(i);
    const QString name = chart.name(i).isEmpty() ? titleOf(chart) : chart.name(i);
    const bool group = !chart.members(i).empty();
    addCurve(all, group ? words("%1, mean").arg(name) : name, series, series.y());
    if (series.low().data() != series.y().data()) {
      addCurve(all, words("%1, lowest").arg(name), series, series.low());
      addCurve(all, words("%1, highest").arg(name), series, series.high());
    }
    if (!group && !chart.smooth(i).empty())
      addCurve(all, words("%1, smoothed").arg(name), chart.smooth(i), chart.smooth(i).y());
  }
  return all;
}

QString textOf(const ChartValues& values, QChar separator) {
  QString text = quotedCell(values.xName, separator);
  for (const ChartValues::Curve& curve : values.curves)
    text += separator + quotedCell(curve.name, separator);
  text += QLatin1Char('\n');
  for (size_t row = 0; row < values.x.size(); ++row) {
    text += exact(values.x[row]);
    for (const ChartValues::Curve& curve : values.curves) {
      text += separator;
      if (curve.values[row]) text += exact(*curve.values[row]);
    }
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace heddle::gui
