// A chart's values as a table, for people who cannot see curves or want to read off many values.
// The values do not change while it is open.
#pragma once

#include <QAbstractTableModel>

#include "base/number_text.h"
#include "gui/charts/chart_values.h"

namespace heddle::gui {

class ChartTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  ChartTableModel(ChartValues values, Unit unit, std::vector<QString> places,
                  QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  ChartValues values_;
  Unit unit_;
  std::vector<QString> places_;  // x with its unit
};

/// Opens over the chart's window.
void openChartTable(const LineChart& chart);

}  // namespace heddle::gui
