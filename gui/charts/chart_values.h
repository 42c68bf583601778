// A chart as a table: x and every curve's values, in the curves' full precision.
#pragma once

#include <QString>
#include <optional>
#include <vector>

namespace heddle::gui {

class LineChart;

struct ChartValues {
  struct Curve {
    QString name;
    std::vector<std::optional<double>> values;  // as x; none: the curve has no sample there
  };
  QString xName;
  std::vector<double> x;  // of the stretch that is shown
  std::vector<Curve> curves;
};

/// The chart's title; its accessible name if it has none.
QString titleOf(const LineChart& chart);

/// A curve with a smoothed companion has two columns; a point that sums up several samples, and a
/// group, has its lowest and highest value, too.
ChartValues valuesOf(const LineChart& chart);

/// Rows of values between separators, under a row of names: CSV with a comma.
QString textOf(const ChartValues& values, QChar separator);

}  // namespace heddle::gui
