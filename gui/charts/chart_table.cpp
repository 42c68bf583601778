#include "gui/charts/chart_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>

#include "gui/charts/line_chart.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

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

ChartTable::ChartTable(const LineChart& chart, QWidget* parent)
    : Dialog(chart.title(), {}, Tone::text, parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  ChartValues values = valuesOf(chart);
  std::vector<QString> places;
  for (const double x : values.x) places.push_back(chart.placeText(x));
  const QString text = textOf(values, QLatin1Char('\t'));
  const auto rows = static_cast<qint64>(values.x.size());
  auto* table = new QTableView;
  table->setModel(new ChartTableModel(std::move(values), chart.unit(), std::move(places), this));
  table->setAccessibleName(tr("Values of %1").arg(chart.title()));
  table->setFont(font::mono(12));
  table->setWordWrap(false);
  table->setMinimumSize(560, 420);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(24);
  table->horizontalHeader()->setDefaultSectionSize(150);
  table->setCurrentIndex(table->model()->index(0, 0));
  body()->addWidget(
      muted(tr("%1, of the stretch that is shown").arg(format::plural(rows, counted::kRow))));
  body()->addWidget(table, 1);
  auto* copy = quietButton(tr("Copy"), QStringLiteral("copy"));
  connect(copy, &QPushButton::clicked, this,
          [text] { QGuiApplication::clipboard()->setText(text); });
  auto* close = primaryButton(tr("Close"));
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  addButton(copy);
  addButton(close);
  table->setFocus();
}

}  // namespace heddle::gui
