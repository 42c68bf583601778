#include "gui/charts/chart_table.h"

#include <QCoreApplication>

#include "gui/charts/line_chart.h"
#include "gui/format.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {

ChartTableModel::ChartTableModel(ChartValues values, Unit unit, std::vector<QString> places,
                                 QObject* parent)
    : QAbstractTableModel(parent),
      values_(std::move(values)),
      unit_(unit),
      places_(std::move(places)) {}

int ChartTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(values_.x.size());
}

int ChartTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : 1 + static_cast<int>(values_.curves.size());
}

QVariant ChartTableModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const auto row = static_cast<size_t>(index.row());
  if (index.column() == 0) return places_[row];
  const auto& value = values_.curves[static_cast<size_t>(index.column()) - 1].values[row];
  return value ? format::withUnit(unit_, *value) : QString();
}

QVariant ChartTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == 0 ? values_.xName : values_.curves[static_cast<size_t>(section) - 1].name;
}

void openChartTable(const LineChart& chart) {
  ChartValues values = valuesOf(chart);
  std::vector<QString> places;
  for (const double x : values.x) places.push_back(chart.placeText(x));
  const QString text = textOf(values, QLatin1Char('\t'));
  const auto rows = static_cast<qint64>(values.x.size());
  auto* model = new ChartTableModel(std::move(values), chart.unit(), std::move(places));
  auto* dialog =
      new TableDialog(titleOf(chart), model,
                      QCoreApplication::translate("ChartTable", "%1 in the range that is shown")
                          .arg(format::plural(rows, counted::kRow)),
                      text, chart.window());
  dialog->open();
}

}  // namespace heddle::gui
