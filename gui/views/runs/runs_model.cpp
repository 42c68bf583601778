#include "gui/views/runs/runs_model.h"

#include <QSet>
#include <cmath>

#include "gui/format.h"
#include "gui/models/run_pace.h"
#include "gui/models/state_look.h"

namespace heddle::gui {
namespace {

using workbench::KeyKind;

QVariant sortable(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? QVariant(*value) : QVariant();
}

QString textOf(storage::RunState state) {
  return QString::fromStdString(storage::to_string(state));
}

QString written(KeyKind kind, const std::optional<double>& number) {
  return number ? QString::fromStdString(workbench::number_text(kind, *number)) : format::kNone;
}

QString stateText(const RunRow& row) { return textOf(row.summary.state); }

QString display(const RunRow& row, int column) {
  const storage::RunSummary& run = row.summary;
  switch (column) {
    case RunsModel::State:
      return stateText(row);
    case RunsModel::Name:
      return row.name();
    case RunsModel::Target:
      return format::spelled(run.target);
    case RunsModel::Recipe:
      return format::spelled(run.recipe_name);
    case RunsModel::Steps:
      return format::count(run.steps);
    case RunsModel::Loss:
      return written(KeyKind::loss, run.loss);
    case RunsModel::Rate:
      return written(KeyKind::rate, run.tokens_per_second_per_rank);
    case RunsModel::Memory:
      return written(KeyKind::bytes, row.peakBytes);
    case RunsModel::Exposed:
      return written(KeyKind::share, row.exposedShare);
    case RunsModel::Created:
      return format::when(row.created());
    case RunsModel::Duration:
      return written(KeyKind::seconds, row.seconds());
    default:
      return {};
  }
}

QVariant sortKey(const RunRow& row, int column) {
  const storage::RunSummary& run = row.summary;
  switch (column) {
    case RunsModel::Steps:
      return QVariant::fromValue<qlonglong>(run.steps);
    case RunsModel::Loss:
    case RunsModel::Curve:
      return sortable(run.loss);
    case RunsModel::Rate:
      return sortable(run.tokens_per_second_per_rank);
    case RunsModel::Memory:
      return sortable(row.peakBytes);
    case RunsModel::Exposed:
      return sortable(row.exposedShare);
    case RunsModel::Created:
      return run.created;
    case RunsModel::Duration:
      return sortable(row.seconds());
    default:
      return display(row, column);
  }
}

/// Explains a column where its name does not.
QVariant headerTip(int column) {
  switch (column) {
    case RunsModel::Loss:
      return QObject::tr("Of the last step");
    case RunsModel::Rate:
      return QObject::tr("Median of the run, without its first 3 steps");
    case RunsModel::Memory:
      return QObject::tr(
          "Peak of the rank that holds most; of a run that goes on, what it holds now");
    case RunsModel::Exposed:
      return QObject::tr(
          "Communication that compute waits for, as a share of the run's median step: the median "
          "of "
          "the profiled steps, the mean of the ranks");
    default:
      return {};
  }
}

bool isNumber(int column) {
  return (column >= RunsModel::Steps && column <= RunsModel::Exposed) ||
         column == RunsModel::Duration;
}

}  // namespace

QString RunsModel::keyOf(int column) {
  static const QStringList keys = {"check",   "state",   "name",    "target", "recipe",
                                   "steps",   "loss",    "curve",   "toks",   "memory",
                                   "exposed", "created", "duration"};
  return keys.value(column);
}

void RunsModel::setRows(std::vector<RunRow> rows) {
  QSet<storage::RunId> wanted;
  for (const RunRow& row : rows) wanted.insert(row.summary.id);
  for (int i = rowCount() - 1; i >= 0; --i) {
    if (wanted.contains(row(i).summary.id)) continue;
    beginRemoveRows({}, i, i);
    rows_.erase(rows_.begin() + i);
    endRemoveRows();
  }
  // Both lists are newest first, so what is new can be put in on the way.
  for (size_t i = 0; i < rows.size(); ++i) {
    const int at = static_cast<int>(i);
    if (i < rows_.size() && rows_[i].summary.id == rows[i].summary.id) {
      rows_[i] = std::move(rows[i]);
      continue;
    }
    beginInsertRows({}, at, at);
    rows_.insert(rows_.begin() + at, std::move(rows[i]));
    endInsertRows();
  }
  rowOf_.clear();
  for (int i = 0; i < rowCount(); ++i) rowOf_.insert(row(i).summary.id, i);
  if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void RunsModel::setValues(const std::string& key, Values values) {
  values_[key] = std::move(values);
}

bool RunsModel::isOfRow(const std::string& key) {
  return workbench::is_of_summary(key) || key == "memory" || key == "exposed";
}

std::optional<storage::Value> RunsModel::value(int at, const std::string& key) const {
  const RunRow& found = row(at);
  const auto optional = [](const std::optional<double>& number) {
    return number ? std::optional<storage::Value>(*number) : std::nullopt;
  };
  // Of a run that goes on, what it holds now.
  if (key == "memory") return optional(found.peakBytes);
  if (key == "exposed") return optional(found.exposedShare);
  if (workbench::is_of_summary(key)) return workbench::value_of(found.summary, key, unixNow());
  const auto values = values_.find(key);
  if (values == values_.end()) return std::nullopt;
  const auto value = values->second.find(found.summary.id);
  return value == values->second.end() ? std::nullopt : std::optional(value->second);
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const RunRow& found = row(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return display(found, index.column());
    case SortRole:
      return sortKey(found, index.column());
    case RunRole:
      return QVariant::fromValue<qlonglong>(found.summary.id);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole:
      if (index.column() == State && !found.contactLook().fresh()) return found.contactLook().text;
      if (index.column() == State && !found.summary.cause.empty())
        return QString::fromStdString(found.summary.cause);
      if (index.column() == Created)
        return found.created().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
      return {};
    case ToneRole:
      if (index.column() == State)
        return static_cast<int>(lookOf(found.summary.state, found.contactLook()).tone);
      if (!found.contactLook().fresh() && isNumber(index.column()))
        return static_cast<int>(Tone::muted);
      if (index.column() == Loss && found.summary.loss && !std::isfinite(*found.summary.loss))
        return static_cast<int>(Tone::bad);
      if (index.column() == Exposed && isMuchExposed(found.exposedShare.value_or(0)))
        return static_cast<int>(Tone::bad);
      return {};
    default:
      return {};
  }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const QStringList names = {"",
                                    tr("state"),
                                    tr("name"),
                                    tr("target"),
                                    tr("recipe"),
                                    tr("steps"),
                                    tr("loss"),
                                    tr("curve"),
                                    tr("tok/s a rank"),
                                    tr("memory"),
                                    tr("exposed"),
                                    tr("created"),
                                    tr("duration")};
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  if (role == Qt::DisplayRole) return names[section];
  if (role == Qt::ToolTipRole) return headerTip(section);
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter |
               (isNumber(section) && section != Curve ? Qt::AlignRight : Qt::AlignLeft));
  return {};
}

RunsProxy::RunsProxy(RunsModel& model) : runs_(model) {
  setSourceModel(&model);
  setSortRole(RunsModel::SortRole);
  setDynamicSortFilter(true);
}

void RunsProxy::setFilter(RunFilter filter) {
  filter_ = std::move(filter);
  invalidateFilter();
}

const RunRow& RunsProxy::row(const QModelIndex& index) const {
  return runs_.row(mapToSource(index).row());
}

bool RunsProxy::filterAcceptsRow(int row, const QModelIndex&) const {
  if (filter_.empty()) return true;
  return filter_.matches([&] { return workbench::words_of(runs_.row(row).summary); },
                         [&](const std::string& key) { return runs_.value(row, key); });
}

bool RunsProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(RunsModel::SortRole), b = right.data(RunsModel::SortRole);
  // Rows without a value come last in either order.
  if (a.isNull() != b.isNull()) return (sortOrder() == Qt::AscendingOrder) == b.isNull();
  if (a.typeId() == QMetaType::QString)
    return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
  return a.toDouble() < b.toDouble();
}

}  // namespace heddle::gui
