#include "gui/views/runs/runs_model.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/run_pace.h"
#include "gui/models/state_look.h"
#include "storage/difference.h"
#include "storage/value_text.h"

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

QString tagsText(const storage::RunSummary& run) {
  QStringList tags;
  for (const std::string& tag : run.tags) tags << format::spelled(tag);
  return tags.join(QStringLiteral(", "));
}

/// Explains a column where its name does not.
QVariant headerTip(int column) {
  switch (column) {
    case RunsModel::Loss:
      return QObject::tr("Of the last step");
    case RunsModel::Best:
      return QObject::tr("The lowest loss of any step");
    case RunsModel::Rate:
      return QObject::tr("Median of the run, without its first 3 steps");
    case RunsModel::Memory:
      return QObject::tr(
          "Peak of the rank that holds most; of a run that goes on, what it holds now");
    case RunsModel::Exposed:
      return QObject::tr(
          "Communication that compute waits for, as a share of the run's median step: the median "
          "of the profiled steps, the mean of the ranks");
    default:
      return {};
  }
}

const QStringList& builtInKeys() {
  static const QStringList keys = {"check",   "star", "state",     "name",    "target", "recipe",
                                   "steps",   "loss", "best_loss", "curve",   "toks",   "memory",
                                   "exposed", "tags", "created",   "duration"};
  return keys;
}

bool isBad(const std::optional<double>& number) { return number && !std::isfinite(*number); }

}  // namespace

QString RunsModel::keyOf(int column) const {
  return column < ColumnCount ? builtInKeys().value(column) : added_.value(column - ColumnCount);
}

int RunsModel::columnOf(const QString& key) const {
  if (const auto builtIn = builtInKeys().indexOf(key); builtIn >= 0)
    return static_cast<int>(builtIn);
  const auto added = added_.indexOf(key);
  return added < 0 ? -1 : static_cast<int>(added) + ColumnCount;
}

bool RunsModel::isNumber(int column) const {
  if (column < ColumnCount) return (column >= Steps && column <= Exposed) || column == Duration;
  return addedNumbers_.value(column - ColumnCount);
}

/// Whether an added column has numbers: by its kind, or by its values.
bool RunsModel::hasNumbers(const std::string& key) const {
  const KeyKind kind = workbench::kind_of(key);
  if (kind != KeyKind::open)
    return kind != KeyKind::words && kind != KeyKind::list && kind != KeyKind::flag;
  const auto values = values_.find(key);
  return values != values_.end() && std::ranges::all_of(values->second, [](const auto& value) {
           return storage::number_of(value.second).has_value();
         });
}

void RunsModel::setRows(std::vector<RunRow> rows) {
  const bool same = std::ranges::equal(
      rows, rows_, {}, [](const RunRow& row) { return row.summary.id; },
      [](const RunRow& row) { return row.summary.id; });
  if (same) {
    rows_ = std::move(rows);
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  rows_ = std::move(rows);
  rowOf_.clear();
  for (int i = 0; i < rowCount(); ++i) rowOf_.insert(row(i).summary.id, i);
  endResetModel();
}

void RunsModel::setAdded(const QStringList& keys, std::map<std::string, Values> values) {
  for (auto& [key, found] : values) values_[key] = std::move(found);
  addedNumbers_.clear();
  for (const QString& key : keys) addedNumbers_.append(hasNumbers(key.toStdString()));
  if (keys == added_) {
    if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  added_ = keys;
  endResetModel();
}

void RunsModel::setValues(const std::string& key, Values values) {
  values_[key] = std::move(values);
}

bool RunsModel::isOfRow(const std::string& key) {
  return workbench::is_of_summary(key) || key == "memory" || key == "exposed" || key == "best_loss";
}

std::optional<storage::Value> RunsModel::value(int at, const std::string& key) const {
  const RunRow& found = row(at);
  const auto optional = [](const std::optional<double>& number) {
    return number ? std::optional<storage::Value>(*number) : std::nullopt;
  };
  // A run that goes on: what it holds now.
  if (key == "memory") return optional(found.peakBytes);
  if (key == "exposed") return optional(found.exposedShare);
  if (key == "best_loss") return optional(found.bestLoss);
  if (workbench::is_of_summary(key)) return workbench::value_of(found.summary, key, unixNow());
  const auto values = values_.find(key);
  if (values == values_.end()) return std::nullopt;
  const auto value = values->second.find(found.summary.id);
  return value == values->second.end() ? std::nullopt : std::optional(value->second);
}

QString RunsModel::display(int at, int column) const {
  const RunRow& found = row(at);
  const storage::RunSummary& run = found.summary;
  switch (column) {
    case Check:
    case Star:
    case Curve:
      return {};
    case State:
      return textOf(run.state);
    case Name:
      return found.name();
    case Target:
      return format::spelled(run.target);
    case Recipe:
      return format::spelled(run.recipe_name);
    case Steps:
      return format::count(run.steps);
    case Loss:
      return written(KeyKind::loss, run.loss);
    case Best:
      return written(KeyKind::loss, found.bestLoss);
    case Rate:
      return written(KeyKind::rate, run.tokens_per_second_per_rank);
    case Memory:
      return written(KeyKind::bytes, found.peakBytes);
    case Exposed:
      return written(KeyKind::share, found.exposedShare);
    case Tags:
      return tagsText(run);
    case Created:
      return format::when(found.created());
    case Duration:
      return written(KeyKind::seconds, found.seconds());
    default:
      break;
  }
  const std::string key = keyOf(column).toStdString();
  const auto found_value = value(at, key);
  if (!found_value) return format::kNone;
  if (const double* number = std::get_if<double>(&*found_value)) {
    const KeyKind kind = workbench::kind_of(key);
    if (kind != KeyKind::open) return written(kind, *number);
    const auto metric = workbench::metric_key(key);
    return QString::fromStdString(
        storage::value_text(metric ? metric->metric : key.substr(key.rfind('.') + 1), *number));
  }
  return QString::fromStdString(workbench::words_in(workbench::kind_of(key), *found_value));
}

bool RunsModel::sortsByNumber(int column) const {
  return isNumber(column) || column == Star || column == Created;
}

std::optional<double> RunsModel::number(int at, int column) const {
  const RunRow& found = row(at);
  const storage::RunSummary& run = found.summary;
  switch (column) {
    case Star:
      return run.starred ? std::optional(1.0) : std::nullopt;
    case Steps:
      return static_cast<double>(run.steps);
    case Loss:
    case Curve:
      return run.loss;
    case Best:
      return found.bestLoss;
    case Rate:
      return run.tokens_per_second_per_rank;
    case Memory:
      return found.peakBytes;
    case Exposed:
      return found.exposedShare;
    case Created:
      return run.created;
    case Duration:
      return found.seconds();
    default:
      break;
  }
  if (!isNumber(column)) return std::nullopt;
  const auto added = value(at, keyOf(column).toStdString());
  return added ? storage::number_of(*added) : std::nullopt;
}

QVariant RunsModel::sortKey(int at, int column) const {
  if (sortsByNumber(column)) return sortable(number(at, column));
  if (column >= ColumnCount && !value(at, keyOf(column).toStdString())) return {};
  const QString text = display(at, column);
  return text.isEmpty() ? QVariant() : QVariant(text);
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount + static_cast<int>(added_.size());
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const RunRow& found = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return display(index.row(), column);
    case Qt::EditRole:
      return column == Name ? QString::fromStdString(found.summary.name)
                            : display(index.row(), column);
    case SortRole:
      return sortKey(index.row(), column);
    case RunRole:
      return QVariant::fromValue<qlonglong>(found.summary.id);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (isNumber(column) ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::AccessibleTextRole:
      if (column == Star) return found.summary.starred ? tr("starred") : tr("not starred");
      return {};
    case Qt::ToolTipRole:
      if (column == Star) return tr("Star: S");
      if (column == State && !found.contactLook().fresh()) return found.contactLook().text;
      if (column == State && !found.summary.cause.empty())
        return QString::fromStdString(found.summary.cause);
      if (column == Created) return found.created().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
      return {};
    case ToneRole:
      if (column == State)
        return static_cast<int>(lookOf(found.summary.state, found.contactLook()).tone);
      if (isFollowed(found.summary.state) && isNumber(column) && !found.contactLook().fresh())
        return static_cast<int>(Tone::muted);
      if ((column == Loss && isBad(found.summary.loss)) ||
          (column == Best && isBad(found.bestLoss)))
        return static_cast<int>(Tone::bad);
      if (column == Exposed && isMuchExposed(found.exposedShare.value_or(0)))
        return static_cast<int>(Tone::bad);
      return {};
    default:
      return {};
  }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const QStringList names = {
      QString(),     QString(),  tr("state"),     tr("name"),    tr("target"),       tr("recipe"),
      tr("steps"),   tr("loss"), tr("best loss"), tr("curve"),   tr("tok/s a rank"), tr("memory"),
      tr("exposed"), tr("tags"), tr("created"),   tr("duration")};
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  switch (role) {
    case Qt::DisplayRole:
      if (section < ColumnCount) return names[section];
      return QString::fromStdString(workbench::label_of(keyOf(section).toStdString()));
    case Qt::AccessibleTextRole:
      if (section == Check) return tr("all runs shown");
      if (section == Star) return tr("starred");
      return {};
    case Qt::ToolTipRole:
      return section < ColumnCount ? headerTip(section) : QVariant(keyOf(section));
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter |
                 (isNumber(section) && section != Curve ? Qt::AlignRight : Qt::AlignLeft));
    default:
      return {};
  }
}

}  // namespace heddle::gui
