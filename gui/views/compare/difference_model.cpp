#include "gui/views/compare/difference_model.h"

#include <array>

#include "gui/format.h"

namespace heddle::gui {

void DifferenceModel::setComparison(std::shared_ptr<const storage::Comparison> comparison,
                                    QList<RunStroke> strokes, size_t baseline) {
  comparison_ = std::move(comparison);
  strokes_ = std::move(strokes);
  baseline_ = baseline;
  rebuild();
}

void DifferenceModel::setAllKeys(bool all) {
  all_ = all;
  rebuild();
}

void DifferenceModel::setDifferences(bool differences) {
  differences_ = differences;
  if (rowCount() > 0 && columnCount() > 0)
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void DifferenceModel::rebuild() {
  beginResetModel();
  rows_.clear();
  const std::array parts = {&comparison_->recipe, &comparison_->environment, &comparison_->results};
  std::array<qint64, 3> shown{};
  const ComparedKeys keys = comparedKeys(*comparison_, all_);
  const auto partOf = [](const ComparedKey& key) {
    return key.isResult() ? size_t{2} : static_cast<size_t>(key.kind);
  };
  for (const ComparedKey& key : *keys) ++shown[partOf(key)];
  for (const ComparedKey& key : *keys) {
    const size_t part = partOf(key);
    if (rows_.empty() || partOf(rows_.back().key) != part) {
      Row group;
      group.group = titleOf(key.kind);
      group.count = format::count(static_cast<qint64>(parts[part]->size()));
      if (!all_) group.count = tr("%1 of %2").arg(format::count(shown[part]), group.count);
      group.key.kind = key.kind;
      rows_.push_back(std::move(group));
    }
    rows_.push_back({{}, {}, key});
  }
  endResetModel();
}

size_t DifferenceModel::runOf(int column) const {
  return column < runCount() ? static_cast<size_t>(column) : 1 - std::min<size_t>(baseline_, 1);
}

QString DifferenceModel::emptyText() const {
  if (!rows_.empty() || runCount() == 0) return {};
  return runCount() == 1 ? tr("Only one run is shown: add another above to see what differs, or "
                              "look at all its keys")
                         : tr("These runs do not differ in anything that was recorded");
}

QString DifferenceModel::text() const {
  QStringList lines{QString()};
  for (const storage::RunSummary& run : comparison_->runs)
    lines.first() += QChar('\t') + format::spelled(run.name);
  for (const Row& row : rows_)
    lines << (row.group.isEmpty() ? row.key.name + QChar('\t') + row.key.texts.join(QChar('\t'))
                                  : row.group);
  return lines.join(QChar('\n'));
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DifferenceModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || comparison_->runs.empty()) return 0;
  return runCount() + (hasDifference() ? 1 : 0);
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  if (role == GroupRole) return !row.group.isEmpty();
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignRight);
  if (!row.group.isEmpty()) return {};
  const bool isRun = index.column() < runCount();
  if (!isRun && !row.key.isResult()) return {};
  if (isRun && hasDifference() && role == HeatRole) return {};  // its own column has it
  return valueCell(row.key, runOf(index.column()), baseline_, !isRun || differences_, role);
}

QVariant DifferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) {
    if (section < 0 || section >= rowCount()) return {};
    const Row& row = rows_[static_cast<size_t>(section)];
    if (role == GroupRole) return !row.group.isEmpty();
    if (role == CountRole) return row.count;
    if (role == Qt::ToolTipRole && !row.key.meaning.isEmpty())
      return QStringLiteral("%1\n\n%2").arg(row.key.name, row.key.meaning);
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
      return row.group.isEmpty() ? row.key.name : row.group;
    return {};
  }
  if (section < 0 || section >= columnCount()) return {};
  const bool isRun = section < runCount();
  switch (role) {
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | Qt::AlignRight);
    case Qt::ToolTipRole:
      if (!isRun)
        return QStringLiteral("%1 − %2").arg(
            format::spelled(comparison_->runs[runOf(section)].name),
            format::spelled(comparison_->runs[1 - runOf(section)].name));
      [[fallthrough]];
    case Qt::DisplayRole:
      return isRun ? format::spelled(comparison_->runs[static_cast<size_t>(section)].name)
                   : tr("difference");
    case ColorRole:
      return isRun ? QVariant(strokes_[section].color) : QVariant();
    case MarkerRole:
      return isRun ? QVariant(strokes_[section].marker) : QVariant();
    case BaselineRole:
      return isRun && static_cast<size_t>(section) == baseline_ && runCount() > 1;
    default:
      return {};
  }
}

}  // namespace heddle::gui
