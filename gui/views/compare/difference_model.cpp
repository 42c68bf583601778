#include "gui/views/compare/difference_model.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/value.h"

namespace heddle::gui {
namespace {

std::optional<double> finite(const std::optional<storage::Value>& value) {
  const auto found = value ? number(*value) : std::nullopt;
  return found && std::isfinite(*found) ? found : std::nullopt;
}

/// Which of the values are the best; none when all are the same or neither way is better.
QVector<bool> bestOf(const storage::Compared& compared) {
  QVector<bool> best(static_cast<qsizetype>(compared.values.size()), false);
  const int direction = static_cast<int>(telemetry::metric(compared.key).better);
  double found = -INFINITY, worst = INFINITY;
  for (const auto& value : compared.values)
    if (const auto size = finite(value)) {
      found = std::max(found, *size * direction);
      worst = std::min(worst, *size * direction);
    }
  if (direction == 0 || !(found > worst) || !compared.differs()) return best;
  for (qsizetype i = 0; i < best.size(); ++i) {
    const auto size = finite(compared.values[static_cast<size_t>(i)]);
    best[i] = size && *size * direction == found;
  }
  return best;
}

bool isOfPlans(const std::vector<storage::Compared>& results) {
  return std::ranges::all_of(
      results, [](const auto& each) { return each.key.starts_with(telemetry::kPredicted); });
}

/// Second minus first; rates as a percentage of the first, shares in points.
QString differenceText(const storage::Compared& compared) {
  const auto left = finite(compared.values[0]), right = finite(compared.values[1]);
  if (!left || !right) return {};
  const double difference =
      storage::same(*compared.values[0], *compared.values[1]) ? 0 : *right - *left;
  if (difference == 0) return QStringLiteral("0");
  const Unit unit = telemetry::metric(compared.key).unit;
  if (unit == Unit::tokens_per_second && *left > 0)
    return format::signedValue(format::percent(difference / *left), difference < 0);
  if (unit == Unit::share)
    return QObject::tr("%1 points")
        .arg(format::signedValue(QString::number(std::abs(difference) * 100, 'f', 1),
                                 difference < 0));
  return format::signedValue(format::withUnit(unit, std::abs(difference)), difference < 0);
}

}  // namespace

void DifferenceModel::setComparison(storage::Comparison comparison, QList<RunStroke> strokes) {
  comparison_ = std::move(comparison);
  strokes_ = std::move(strokes);
  rebuild();
}

void DifferenceModel::setAllKeys(bool all) {
  all_ = all;
  rebuild();
}

void DifferenceModel::rebuild() {
  beginResetModel();
  rows_.clear();
  addGroup(tr("Recipe"), comparison_.recipe, Kind::given);
  addGroup(tr("Environment"), comparison_.environment, Kind::given);
  std::vector<storage::Compared> results = comparison_.results;
  const bool planned = isOfPlans(results);
  // No measured result has the same name.
  if (planned)
    for (storage::Compared& each : results) each.key.erase(0, telemetry::kPredicted.size());
  addGroup(planned ? tr("Predicted") : tr("Results"), std::move(results),
           planned ? Kind::predicted : Kind::measured);
  endResetModel();
}

void DifferenceModel::addGroup(const QString& name, std::vector<storage::Compared> keys,
                               Kind kind) {
  const bool results = kind != Kind::given, planned = kind == Kind::predicted;
  const auto total = static_cast<qint64>(keys.size());
  if (!all_) std::erase_if(keys, [](const storage::Compared& key) { return !key.differs(); });
  if (keys.empty()) return;
  if (results)
    std::ranges::stable_sort(keys, {},
                             [](const auto& each) { return telemetry::order_of(each.key); });
  Row group;
  group.group = name;
  group.count = format::count(total);
  if (!all_)
    group.count = tr("%1 of %2").arg(format::count(static_cast<qint64>(keys.size())), group.count);
  rows_.push_back(std::move(group));
  for (const storage::Compared& compared : keys) {
    Row row;
    const std::string& key = compared.key;
    row.key = !results ? QString::fromStdString(key) : planned ? keyText(key) : resultText(key);
    if (results) row.meaning = QString::fromUtf8(telemetry::metric(key).meaning);
    row.values = valueTexts(key, compared.values);
    if (results) row.best = bestOf(compared);
    if (results && hasDifference()) row.difference = differenceText(compared);
    rows_.push_back(std::move(row));
  }
}

QString DifferenceModel::emptyText() const {
  if (!rows_.empty() || runCount() == 0) return {};
  return runCount() == 1 ? tr("Only one run is shown: add another above to see what differs, or "
                              "look at all its keys")
                         : tr("These runs do not differ in anything that was recorded");
}

QString DifferenceModel::text() const {
  QStringList lines{QString()};
  for (const storage::RunSummary& run : comparison_.runs)
    lines.first() += QChar('\t') + format::spelled(run.name);
  for (const Row& row : rows_)
    lines << (row.group.isEmpty() ? row.key + QChar('\t') + row.values.join(QChar('\t'))
                                  : row.group);
  return lines.join(QChar('\n'));
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DifferenceModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || comparison_.runs.empty()) return 0;
  return runCount() + (hasDifference() ? 1 : 0);
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  const int run = index.column();
  const bool isRun = run < runCount();
  if (role == GroupRole) return !row.group.isEmpty();
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignRight);
  if (!row.group.isEmpty()) return {};
  switch (role) {
    case Qt::DisplayRole:
      return isRun ? row.values[run] : row.difference;
    case Qt::ToolTipRole:
      return isRun && row.values[run].size() > 12 ? QVariant(row.values[run]) : QVariant();
    case BestRole:
      return isRun && run < row.best.size() && row.best[run];
    default:
      return {};
  }
}

QVariant DifferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) {
    if (section < 0 || section >= rowCount()) return {};
    const Row& row = rows_[static_cast<size_t>(section)];
    if (role == GroupRole) return !row.group.isEmpty();
    if (role == CountRole) return row.count;
    if (role == Qt::ToolTipRole && !row.meaning.isEmpty())
      return QStringLiteral("%1\n\n%2").arg(row.key, row.meaning);
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
      return row.group.isEmpty() ? row.key : row.group;
    return {};
  }
  if (section < 0 || section >= columnCount()) return {};
  const bool isRun = section < runCount();
  switch (role) {
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | Qt::AlignRight);
    case Qt::ToolTipRole:
      if (!isRun)
        return QStringLiteral("%1 − %2").arg(format::spelled(comparison_.runs[1].name),
                                             format::spelled(comparison_.runs[0].name));
      [[fallthrough]];
    case Qt::DisplayRole:
      return isRun ? format::spelled(comparison_.runs[static_cast<size_t>(section)].name)
                   : tr("difference");
    case ColorRole:
      return isRun ? QVariant(strokes_[section].color) : QVariant();
    case MarkerRole:
      return isRun ? QVariant(strokes_[section].marker) : QVariant();
    default:
      return {};
  }
}

}  // namespace heddle::gui
