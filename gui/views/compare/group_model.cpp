#include "gui/views/compare/group_model.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"

namespace heddle::gui {
namespace {

struct Spread {
  int count = 0;
  double mean = 0, low = 0, high = 0;
};

/// The finite numbers that the group's runs have.
Spread spreadOf(const ComparedKey& key, const QStringList& groups, const QString& group) {
  Spread spread{0, 0, INFINITY, -INFINITY};
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    if (groups[static_cast<qsizetype>(run)] != group) continue;
    const auto number = key.number(run);
    if (!number) continue;
    ++spread.count;
    spread.mean += (*number - spread.mean) / spread.count;
    spread.low = std::min(spread.low, *number);
    spread.high = std::max(spread.high, *number);
  }
  return spread;
}

/// The key's value from which groups are differences.
std::optional<storage::Value> baselineValue(const ComparedKey& key, const QStringList& groups,
                                            size_t baseline) {
  const QString group = groups.value(static_cast<qsizetype>(baseline));
  if (group.isEmpty()) return key.compared.values[baseline];
  const Spread spread = spreadOf(key, groups, group);
  return spread.count > 0 ? std::optional<storage::Value>(spread.mean) : std::nullopt;
}

QString textOfNumber(const ComparedKey& key, double number) {
  return QString::fromStdString(telemetry::value_text(key.compared.key, number));
}

}  // namespace

void GroupModel::setGroups(const std::vector<ComparedKey>& keys, const QStringList& groups,
                           std::optional<size_t> baseline) {
  beginResetModel();
  names_.clear();
  keys_.clear();
  cells_.clear();
  QStringList found;
  for (const QString& group : groups)
    if (!group.isEmpty() && !found.contains(group)) found << group;
  for (const QString& group : found) {
    names_ << tr("%1 · %2").arg(group, format::plural(groups.count(group), counted::kRun));
    cells_.emplace_back();
  }
  for (const ComparedKey& key : keys) {
    if (!key.isResult()) continue;
    const int direction = static_cast<int>(telemetry::metric(key.compared.key).better);
    std::vector<Spread> spreads;
    double best = -INFINITY;
    for (const QString& group : found) {
      spreads.push_back(spreadOf(key, groups, group));
      if (spreads.back().count > 0) best = std::max(best, spreads.back().mean * direction);
    }
    if (std::ranges::all_of(spreads, [](const Spread& each) { return each.count == 0; })) continue;
    keys_.push_back(key);
    const bool differs = baseline && *baseline < key.compared.values.size();
    const auto from = differs ? baselineValue(key, groups, *baseline) : std::nullopt;
    for (size_t row = 0; row < spreads.size(); ++row) {
      const Spread& of = spreads[row];
      Cell cell;
      if (of.count > 0) {
        cell.text = textOfNumber(key, of.mean);
        cell.range = tr("%1 to %2").arg(textOfNumber(key, of.low), textOfNumber(key, of.high));
        cell.best = direction != 0 && found.size() > 1 && of.mean * direction == best;
        const bool isBaseline =
            differs && groups.value(static_cast<qsizetype>(*baseline)) == found[qsizetype(row)];
        if (const auto change = storage::difference_of(key.compared.key, from, of.mean);
            change && !isBaseline) {
          cell.difference =
              QString::fromStdString(storage::difference_text(key.compared.key, *change));
          cell.heat = change->heat() * change->better;
          cell.best = false;
        }
      }
      cells_[row].push_back(std::move(cell));
    }
  }
  endResetModel();
}

int GroupModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(names_.size());
}

int GroupModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(keys_.size());
}

QVariant GroupModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Cell& cell = cells_[static_cast<size_t>(index.row())][static_cast<size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      if (!cell.difference.isEmpty()) return cell.difference;
      return cell.text.isEmpty() ? format::kNone
                                 : QStringLiteral("%1  [%2]").arg(cell.text, cell.range);
    case Qt::ToolTipRole:
      return cell.text.isEmpty() ? QVariant() : tr("mean %1, from %2").arg(cell.text, cell.range);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | Qt::AlignRight);
    case BestRole:
      return cell.best;
    case HeatRole:
      return cell.heat;
    default:
      return {};
  }
}

QVariant GroupModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section < 0) return {};
  if (orientation == Qt::Vertical) {
    if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignLeft);
    const bool shown = role == Qt::DisplayRole || role == Qt::ToolTipRole;
    return shown && section < rowCount() ? QVariant(names_[section]) : QVariant();
  }
  if (section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return keys_[static_cast<size_t>(section)].name;
  if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | Qt::AlignRight);
  return {};
}

}  // namespace heddle::gui
