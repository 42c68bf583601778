#include "gui/views/compare/run_table_model.h"

#include <algorithm>
#include <numeric>

#include "gui/format.h"

namespace heddle::gui {

RunTableModel::RunTableModel(const CompareChoices& choices, QObject* parent)
    : QAbstractTableModel(parent), choices_(choices) {
  for (const auto change : {&CompareChoices::hiddenChanged, &CompareChoices::timelinesChanged})
    connect(&choices, change, this, [this] { changed(Qt::Vertical); });
}

void RunTableModel::setComparison(std::shared_ptr<const storage::Comparison> comparison,
                                  ComparedKeys differing, QList<RunStroke> strokes) {
  comparison_ = std::move(comparison);
  differing_ = std::move(differing);
  strokes_ = std::move(strokes);
  rebuild();
}

void RunTableModel::setAllKeys(bool all) {
  all_ = all;
  rebuild();
}

void RunTableModel::setDifferences(bool differences) {
  differences_ = differences;
  changed(Qt::Vertical);
}

void RunTableModel::changed(Qt::Orientation headers) {
  if (rowCount() == 0) return;
  Q_EMIT headerDataChanged(headers, 0, rowCount() - 1);
  if (columnCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void RunTableModel::rebuild() {
  beginResetModel();
  const auto& runs = comparison_->runs;
  const auto baseline = std::ranges::find(runs, choices_.baseline(), &storage::RunSummary::id);
  baseline_ = static_cast<size_t>(baseline - runs.begin());
  keys_ = all_ ? comparedKeys(*comparison_, true) : differing_;
  columns_.clear();
  for (const ComparedKey& key : *keys_) columns_.push_back(&key);
  // Results are seen without scrolling: builds and fingerprints come after them.
  std::ranges::stable_partition(
      columns_, [](const ComparedKey* key) { return key->kind != ComparedKey::Kind::environment; });
  order_.resize(comparison_->runs.size());
  order();
  endResetModel();
}

/// Numbers by size, before words; none comes last either way.
void RunTableModel::order() {
  std::iota(order_.begin(), order_.end(), size_t{0});
  if (sortColumn() < 0) return;
  const ComparedKey* key = &keyOf(sortColumn());
  const bool up = sortOrder_ == Qt::AscendingOrder;
  std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    const bool hasA = key->compared.values[a].has_value();
    const bool hasB = key->compared.values[b].has_value();
    if (!hasA || !hasB) return hasA && !hasB;
    const auto left = key->number(a), right = key->number(b);
    if (left && right) return up ? *left < *right : *right < *left;
    if (left || right) return left.has_value();
    const QString& first = key->texts[static_cast<qsizetype>(a)];
    const QString& second = key->texts[static_cast<qsizetype>(b)];
    return up ? first < second : second < first;
  });
}

int RunTableModel::sortColumn() const {
  if (sortedBy_.empty()) return -1;
  const auto key = std::ranges::find_if(
      columns_, [this](const ComparedKey* each) { return each->compared.key == sortedBy_; });
  return key == columns_.end() ? -1 : static_cast<int>(key - columns_.begin());
}

void RunTableModel::sort(int column, Qt::SortOrder sortOrder) {
  sortedBy_ = column >= 0 && column < columnCount() ? keyOf(column).compared.key : std::string();
  sortOrder_ = sortOrder;
  Q_EMIT layoutAboutToBeChanged();
  const std::vector<size_t> before = order_;
  order();
  QModelIndexList from = persistentIndexList(), to;
  for (const QModelIndex& each : from) {
    const auto row = std::ranges::find(order_, before[static_cast<size_t>(each.row())]);
    to.append(index(static_cast<int>(row - order_.begin()), each.column()));
  }
  changePersistentIndexList(from, to);
  Q_EMIT layoutChanged();
}

qint64 RunTableModel::runAt(int row) const { return comparison_->runs[runOf(row)].id; }

int RunTableModel::rowOf(qint64 run) const {
  for (int row = 0; row < rowCount(); ++row)
    if (runAt(row) == run) return row;
  return -1;
}

QString RunTableModel::text() const {
  QStringList lines{QString()};
  for (const ComparedKey* key : columns_) lines.first() += QChar('\t') + key->name;
  for (const size_t run : order_) {
    QString line = format::spelled(comparison_->runs[run].name);
    for (const ComparedKey* key : columns_)
      line += QChar('\t') + key->texts[static_cast<qsizetype>(run)];
    lines << line;
  }
  return lines.join(QChar('\n'));
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignRight);
  if (role == MutedRole) return choices_.isHidden(runAt(index.row()));
  return valueCell(keyOf(index.column()), runOf(index.row()), baseline_, differences_, role);
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section < 0) return {};
  if (orientation == Qt::Vertical)
    return section < rowCount() ? rowHeader(section, role) : QVariant();
  if (section >= columnCount()) return {};
  const ComparedKey& key = keyOf(section);
  if (role == Qt::DisplayRole) return key.name;
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignRight);
  if (role == Qt::ToolTipRole)
    return QStringLiteral("%1: %2%3")
        .arg(titleOf(key.kind), key.name,
             key.meaning.isEmpty() ? QString() : QStringLiteral("\n\n") + key.meaning);
  return {};
}

QVariant RunTableModel::rowHeader(int row, int role) const {
  const size_t run = runOf(row);
  const storage::RunSummary& summary = comparison_->runs[run];
  const RunStroke& stroke = strokes_[static_cast<qsizetype>(run)];
  switch (role) {
    case Qt::DisplayRole:
      return format::spelled(summary.name);
    case Qt::ToolTipRole: {
      QStringList lines{format::spelled(summary.name)};
      if (!summary.recipe_name.empty()) lines << format::spelled(summary.recipe_name);
      if (summary.id == choices_.baseline()) lines << tr("the baseline");
      if (choices_.isHidden(summary.id)) lines << tr("hidden in the charts");
      return lines.join(QChar('\n'));
    }
    case MutedRole:
      return choices_.isHidden(summary.id);
    case ColorRole:
      return stroke.color;
    case MarkerRole:
      return stroke.marker;
    case BaselineRole:
      return summary.id == choices_.baseline();
    case TimelineRole:
      return choices_.timelines().contains(summary.id);
    default:
      return {};
  }
}

}  // namespace heddle::gui
