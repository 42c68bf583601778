#include "gui/views/runs/run_columns.h"

#include <QHeaderView>
#include <QMenu>
#include <algorithm>
#include <ranges>
#include <utility>

#include "gui/settings.h"

namespace heddle::gui {
namespace {

constexpr int kSaveMilliseconds = 300;
constexpr int kLowestName = 150;
constexpr int kWideName = 280;  // a name's width before other columns are hidden for it
constexpr int kWidest = 260;    // a column's, of its own accord
constexpr int kWidestName = 520;
constexpr int kMore = 40, kMoreCurve = 360;  // than needed, where there is room
constexpr int kMeasured = 300;               // rows

/// Columns that go first where there is no room for all; the drawer shows the same facts.
constexpr RunsModel::Column kSpared[] = {RunsModel::Recipe, RunsModel::Duration, RunsModel::Exposed,
                                         RunsModel::Curve,  RunsModel::Memory,   RunsModel::Created,
                                         RunsModel::Rate,   RunsModel::Target};

const QString kGroup = QStringLiteral("runs/");

int columnOf(const QString& key) {
  for (int column = 0; column < RunsModel::ColumnCount; ++column)
    if (RunsModel::keyOf(column) == key) return column;
  return -1;
}

}  // namespace

RunColumns::RunColumns(QTableView* table)
    : QObject(table), table_(table), header_(table->horizontalHeader()) {
  header_->setSectionsMovable(true);
  header_->setMinimumSectionSize(28);
  header_->setSectionResizeMode(RunsModel::Check, QHeaderView::Fixed);
  header_->setContextMenuPolicy(Qt::CustomContextMenu);
  saving_.setSingleShot(true);
  saving_.setInterval(kSaveMilliseconds);
  connect(&saving_, &QTimer::timeout, this, &RunColumns::save);
  connect(header_, &QHeaderView::sectionMoved, this, &RunColumns::save);
  connect(header_, &QHeaderView::sortIndicatorChanged, this, &RunColumns::save);
  connect(header_, &QHeaderView::sectionResized, this, [this](int column, int, int width) {
    if (fitting_ || width == 0) return;
    columns_[static_cast<size_t>(column)].given = width;
    fit();
    saving_.start();
  });
  connect(header_, &QWidget::customContextMenuRequested, this,
          [this](const QPoint& position) { offer(header_->mapToGlobal(position)); });
  measure();
}

void RunColumns::measure() {
  const QAbstractItemModel* model = table_->model();
  const int rows = std::min(model->rowCount(), kMeasured);
  QStyleOptionViewItem option;
  header_->ensurePolished();  // the sheet's font
  fitting_ = true;
  // The header reports no width for a hidden column.
  for (int column = 0; column < RunsModel::ColumnCount; ++column)
    header_->setSectionHidden(column, false);
  for (int column = 0; column < RunsModel::ColumnCount; ++column) {
    int needed = header_->sectionSizeHint(column);
    for (int row = 0; row < rows; ++row) {
      const QModelIndex index = model->index(row, column);
      needed = std::max(needed, table_->itemDelegate()->sizeHint(option, index).width());
    }
    Column& of = columns_[static_cast<size_t>(column)];
    of.needed = column == RunsModel::Check
                    ? 28
                    : std::min(needed, column == RunsModel::Name ? kWidestName : kWidest);
  }
  fit();
}

int RunColumns::widthOf(int column) const {
  const Column& of = columns_[static_cast<size_t>(column)];
  return of.given > 0 ? of.given : of.needed;
}

void RunColumns::fit() {
  const int room = table_->viewport()->width();
  Column& name = columns_[RunsModel::Name];
  std::array<bool, RunsModel::ColumnCount> hidden{}, spared{};
  const int nameNeeds =
      name.given > 0 ? name.given : std::clamp(name.needed, kLowestName, kWideName);
  int needed = nameNeeds;
  for (int column = 0; column < RunsModel::ColumnCount; ++column) {
    hidden[static_cast<size_t>(column)] =
        columns_[static_cast<size_t>(column)].shown == Shown::never;
    if (column != RunsModel::Name && !hidden[static_cast<size_t>(column)])
      needed += widthOf(column);
  }
  for (const RunsModel::Column column : kSpared) {
    if (needed <= room) break;
    if (hidden[column] || columns_[column].shown == Shown::always) continue;
    hidden[column] = true;
    spared[column] = true;
    needed -= widthOf(column);
  }
  // A wide one that went last may have left room for one that went before it.
  for (const RunsModel::Column column : kSpared | std::views::reverse) {
    if (!hidden[column] || columns_[column].shown != Shown::whereThereIsRoom) continue;
    if (needed + widthOf(column) > room) continue;
    hidden[column] = spared[column] = false;
    needed += widthOf(column);
  }
  fitting_ = true;
  for (int column = 0; column < RunsModel::ColumnCount; ++column) {
    header_->setSectionHidden(column, hidden[static_cast<size_t>(column)]);
    if (column != RunsModel::Name && !hidden[static_cast<size_t>(column)])
      header_->resizeSection(column, widthOf(column));
  }
  // The rest goes to the name as far as it needs it, the curve, all columns, and the name.
  int left = room - (needed - nameNeeds);
  const auto widen = [&](int column, int most) {
    const Column& of = columns_[static_cast<size_t>(column)];
    const int more = std::min(most, left - std::max(nameNeeds, name.needed));
    if (more <= 0 || hidden[static_cast<size_t>(column)] || of.given > 0) return;
    header_->resizeSection(column, of.needed + more);
    left -= more;
  };
  widen(RunsModel::Curve, kMoreCurve);
  for (int column = RunsModel::State; column < RunsModel::ColumnCount; ++column)
    if (column != RunsModel::Name && column != RunsModel::Curve) widen(column, kMore);
  header_->resizeSection(RunsModel::Name,
                         name.given > 0 ? name.given : std::max(kLowestName, left));
  fitting_ = false;
  if (std::exchange(spared_, spared) != spared) Q_EMIT sparedChanged();
}

QStringList RunColumns::spared() const {
  QStringList names;
  for (int column = 0; column < RunsModel::ColumnCount; ++column)
    if (spared_[static_cast<size_t>(column)])
      names << table_->model()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  return names;
}

void RunColumns::offer(const QPoint& globalPosition) {
  QMenu menu(table_);
  menu.setObjectName(QStringLiteral("columnMenu"));
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    if (column == RunsModel::Check || column == RunsModel::Name) continue;
    QAction* action = menu.addAction(
        table_->model()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    action->setCheckable(true);
    action->setChecked(!header_->isSectionHidden(column));
    connect(action, &QAction::toggled, this, [this, column](bool shown) {
      columns_[static_cast<size_t>(column)].shown = shown ? Shown::always : Shown::never;
      fit();
      save();
    });
  }
  menu.addSeparator();
  menu.addAction(tr("Reset columns"), this, &RunColumns::reset);
  menu.exec(globalPosition);
}

void RunColumns::reset() {
  for (Column& column : columns_) column.given = 0, column.shown = Shown::whereThereIsRoom;
  for (int column = 0; column < header_->count(); ++column)
    header_->moveSection(header_->visualIndex(column), column);
  fit();
  save();
}

void RunColumns::keep() {
  const auto settings = openSettings();
  const QStringList order = settings->value(kGroup + "order").toStringList();
  int visual = 0;
  for (const QString& key : order) {
    const int column = columnOf(key);
    if (column >= 0) header_->moveSection(header_->visualIndex(column), visual++);
  }
  const QVariantMap widths = settings->value(kGroup + "widths").toMap();
  const QVariantMap shown = settings->value(kGroup + "shown").toMap();
  for (int column = 0; column < RunsModel::ColumnCount; ++column) {
    Column& of = columns_[static_cast<size_t>(column)];
    const QString key = RunsModel::keyOf(column);
    of.given = std::clamp(widths.value(key).toInt(), 0, 2000);
    if (shown.contains(key)) of.shown = shown.value(key).toBool() ? Shown::always : Shown::never;
  }
  if (const int column = columnOf(settings->value(kGroup + "sort").toString()); column >= 0)
    table_->sortByColumn(column, settings->value(kGroup + "descending").toBool()
                                     ? Qt::DescendingOrder
                                     : Qt::AscendingOrder);
  fit();
  keeping_ = true;
}

void RunColumns::save() const {
  if (!keeping_) return;
  QStringList order;
  QVariantMap widths, shown;
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    const QString key = RunsModel::keyOf(column);
    const Column& of = columns_[static_cast<size_t>(column)];
    order << key;
    if (of.given > 0) widths.insert(key, of.given);
    if (of.shown != Shown::whereThereIsRoom) shown.insert(key, of.shown == Shown::always);
  }
  const auto settings = openSettings();
  settings->setValue(kGroup + "order", order);
  settings->setValue(kGroup + "widths", widths);
  settings->setValue(kGroup + "shown", shown);
  settings->setValue(kGroup + "sort", RunsModel::keyOf(header_->sortIndicatorSection()));
  settings->setValue(kGroup + "descending", header_->sortIndicatorOrder() == Qt::DescendingOrder);
}

}  // namespace heddle::gui
