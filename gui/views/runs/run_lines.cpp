#include "gui/views/runs/run_lines.h"

#include <algorithm>
#include <utility>

#include "gui/format.h"

namespace heddle::gui {
namespace {

/// A group's number as the column writes it.
QString figureText(const RunsModel& model, int column, double value) {
  const workbench::KeyKind kind = workbench::kind_of(model.keyOf(column).toStdString());
  if (kind == workbench::KeyKind::open) return format::significant(value, 4);
  return QString::fromStdString(workbench::number_text(kind, value));
}

}  // namespace

RunLines::RunLines(RunsModel& model) : runs_(model) {
  connect(&model, &QAbstractItemModel::dataChanged, this, [this] {
    filterRows();
    sortRows();
    arrange();
  });
  connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
    Q_EMIT rearranging();
    beginResetModel();
  });
  connect(&model, &QAbstractItemModel::modelReset, this, [this] {
    filterRows();
    sortRows();
    take(order());
    endResetModel();
    Q_EMIT rearranged();
  });
  filterRows();
  sortRows();
  take(order());
}

bool RunLines::passes(int row) const {
  return filter_.matches([&] { return workbench::words_of(runs_.row(row).summary); },
                         [&](const std::string& key) { return runs_.value(row, key); });
}

void RunLines::filterRows() {
  shown_.assign(static_cast<size_t>(runs_.rowCount()), true);
  if (!filter_.empty())
    for (size_t row = 0; row < shown_.size(); ++row) shown_[row] = passes(static_cast<int>(row));
  shownCount_ = static_cast<int>(std::count(shown_.begin(), shown_.end(), true));
}

RunOrder RunLines::order() const {
  std::vector<int> rows;
  rows.reserve(static_cast<size_t>(shownCount_));
  for (const int row : sorted_)
    if (shown_[static_cast<size_t>(row)]) rows.push_back(row);
  return orderRuns(runs_, rows, sorts_, groups_, folds_);
}

void RunLines::take(RunOrder order) {
  order_ = std::move(order);
  figures_.clear();
  lineOf_.assign(static_cast<size_t>(runs_.rowCount()), -1);
  for (int i = 0; i < rowCount(); ++i)
    if (const RunLine& each = line(i); each.row >= 0) lineOf_[static_cast<size_t>(each.row)] = i;
}

void RunLines::arrange() {
  RunOrder order = this->order();
  if (order.lines == order_.lines) {
    take(std::move(order));
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  Q_EMIT rearranging();
  beginResetModel();
  take(std::move(order));
  endResetModel();
  Q_EMIT rearranged();
}

void RunLines::setFilter(RunFilter filter) {
  filter_ = std::move(filter);
  filterRows();
  arrange();
}

void RunLines::setSorts(const QList<RunSort>& sorts) {
  sorts_ = sorts;
  sortRows();
  arrange();
  Q_EMIT sortsChanged();
}

void RunLines::sort(int column, Qt::SortOrder order) {
  setSorts({{runs_.keyOf(column), order == Qt::DescendingOrder}});
}

void RunLines::setGroups(const QStringList& keys) {
  if (keys == groups_) return;
  groups_ = keys;
  folds_ = {};
  arrange();
}

void RunLines::fold(const QModelIndex& index, bool folded) {
  const RunLine& at = line(index.row());
  if (at.below == 0 || at.folded == folded) return;
  if (at.row < 0) {
    const QString path = groupPath(index);
    folded ? void(folds_.groups.insert(path)) : void(folds_.groups.remove(path));
  } else {
    folded ? void(folds_.runs.insert(at.run)) : void(folds_.runs.remove(at.run));
  }
  arrange();
}

void RunLines::setFolds(RunFolds folds) {
  folds_ = std::move(folds);
  arrange();
}

void RunLines::foldAll(bool folded) {
  folds_ = {};
  if (folded) {
    for (const RunGroup& group : order_.groups) folds_.groups.insert(group.path);
    for (const RunLine& each : order_.lines)
      if (each.row >= 0 && each.below > 0) folds_.runs.insert(each.run);
  }
  arrange();
}

QList<qint64> RunLines::runsOf(const QModelIndex& index) const {
  const RunLine& at = line(index.row());
  if (at.row >= 0) return {at.run};
  QList<qint64> found;
  for (const int row : order_.groups[static_cast<size_t>(at.group)].rows)
    found.append(runs_.row(row).summary.id);
  return found;
}

QList<qint64> RunLines::shownRuns() const {
  QList<qint64> found;
  for (size_t row = 0; row < shown_.size(); ++row)
    if (shown_[row]) found.append(runs_.row(static_cast<int>(row)).summary.id);
  return found;
}

int RunLines::countShown(const QList<qint64>& runs) const {
  return static_cast<int>(std::ranges::count_if(runs, [this](qint64 run) {
    const int row = runs_.indexOf(run);
    return row >= 0 && shown_[static_cast<size_t>(row)];
  }));
}

int RunLines::lineOf(qint64 run) const {
  const int row = runs_.indexOf(run);
  return row < 0 ? -1 : lineOf_[static_cast<size_t>(row)];
}

QString RunLines::groupPath(const QModelIndex& index) const {
  const int group = line(index.row()).group;
  return group < 0 ? QString() : order_.groups[static_cast<size_t>(group)].path;
}

int RunLines::lineOfGroup(const QString& path) const {
  int found = -1;
  for (int i = 0; i < rowCount(); ++i) {
    if (!isHead(index(i, 0))) continue;
    const QString each = groupPath(index(i, 0));
    if (path == each) return i;
    if (path.startsWith(each + kWithin)) found = i;
  }
  return found;
}

int RunLines::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.lines.size());
}

int RunLines::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : runs_.columnCount();
}

const GroupFigures& RunLines::figures(int group, int column) const {
  const auto [found, isNew] = figures_.try_emplace({group, column});
  if (isNew)
    found->second = figuresOf(runs_, order_.groups[static_cast<size_t>(group)].rows, column);
  return found->second;
}

QVariant RunLines::headData(const RunLine& head, int column, int role) const {
  const RunGroup& group = order_.groups[static_cast<size_t>(head.group)];
  if (role == Qt::TextAlignmentRole)
    return runs_.isNumber(column) ? int(Qt::AlignVCenter | Qt::AlignRight)
                                  : int(Qt::AlignVCenter | Qt::AlignLeft);
  if (column == RunsModel::Name) {
    const QString label =
        runs_.headerData(group.column, Qt::Horizontal, Qt::DisplayRole).toString();
    const QString text =
        group.value.isEmpty() ? tr("no %1").arg(label) : tr("%1 %2").arg(label, group.value);
    const QString count = format::plural(head.below, counted::kRun);
    if (role == Qt::DisplayRole) return text;
    if (role == RangeRole) return count;
    if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole)
      return tr("%1, %2, %3").arg(text, count, head.folded ? tr("folded") : tr("unfolded"));
    return {};
  }
  const bool summed = runs_.isNumber(column) && column != RunsModel::Curve;
  if (!summed) return {};
  const GroupFigures& of = figures(head.group, column);
  const auto text = [&](double value) { return figureText(runs_, column, value); };
  switch (role) {
    case Qt::DisplayRole:
      return of.count > 0 ? text(of.mean) : QString();
    case RangeRole:
      return of.count > 1 && of.min < of.max ? tr("%1 – %2").arg(text(of.min), text(of.max))
                                             : QString();
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: {
      if (of.count == 0) return {};
      QString tip = tr("mean %1 of %2, from %3 to %4")
                        .arg(text(of.mean), format::plural(of.count, counted::kRun), text(of.min),
                             text(of.max));
      if (of.nonfinite > 0) tip += tr("; %1 not finite").arg(of.nonfinite);
      return tip;
    }
    default:
      return {};
  }
}

QVariant RunLines::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const RunLine& at = line(index.row());
  if (at.row < 0) return headData(at, index.column(), role);
  return runs_.data(runs_.index(at.row, index.column()), role);
}

bool RunLines::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) return false;
  if (value != index.data(Qt::EditRole))
    Q_EMIT edited(line(index.row()).run, runs_.keyOf(index.column()), value.toString());
  return true;
}

Qt::ItemFlags RunLines::flags(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  if (isHead(index)) return Qt::ItemIsEnabled;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  const QString key = runs_.keyOf(index.column());
  if (key == QStringLiteral("name") || key == QStringLiteral("notes")) flags |= Qt::ItemIsEditable;
  return flags;
}

QVariant RunLines::headerData(int section, Qt::Orientation orientation, int role) const {
  return runs_.headerData(section, orientation, role);
}

}  // namespace heddle::gui
