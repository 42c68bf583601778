#include "gui/views/runs/run_order.h"

#include <QCollator>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "gui/format.h"

namespace heddle::gui {
namespace {

/// A sort's values, read once: comparing them costs nothing then.
struct SortValues {
  bool descending = false;
  std::vector<bool> absent;
  std::vector<double> numbers;  // else texts
  std::vector<QCollatorSortKey> texts;

  /// Negative: `a` comes first. Rows without a value come last in either order.
  int compare(int rowA, int rowB) const {
    const auto a = static_cast<size_t>(rowA), b = static_cast<size_t>(rowB);
    if (absent[a] || absent[b]) return int(absent[a]) - int(absent[b]);
    const int order = texts.empty() ? (numbers[a] < numbers[b] ? -1 : numbers[a] > numbers[b])
                                    : texts[a].compare(texts[b]);
    return descending ? -order : order;
  }
};

SortValues valuesOf(const RunsModel& model, int column, bool descending) {
  SortValues values;
  values.descending = descending;
  QCollator collator;
  collator.setNumericMode(true);
  for (int row = 0; row < model.rowCount(); ++row) {
    if (model.sortsByNumber(column)) {
      const auto number = model.number(row, column);
      values.absent.push_back(!number || !std::isfinite(*number));
      values.numbers.push_back(number.value_or(0));
    } else {
      const QVariant text = model.index(row, column).data(RunsModel::SortRole);
      values.absent.push_back(text.isNull());
      values.texts.push_back(collator.sortKey(text.toString()));
    }
  }
  return values;
}

class Sorter {
 public:
  Sorter(const RunsModel& model, const QList<RunSort>& sorts) {
    for (const RunSort& sort : sorts)
      if (const int column = model.columnOf(sort.key); column >= 0)
        values_.push_back(valuesOf(model, column, sort.descending));
  }
  void sort(std::vector<int>& rows) const {
    std::ranges::stable_sort(rows, [&](int a, int b) {
      for (const SortValues& values : values_)
        if (const int order = values.compare(a, b); order != 0) return order < 0;
      return false;
    });
  }

 private:
  std::vector<SortValues> values_;
};

RunLine lineOf(const RunsModel& model, int row) {
  RunLine line;
  line.row = row;
  line.run = model.row(row).summary.id;
  return line;
}

/// Groups by the mean of what the table is sorted by; where that is no number or the time of
/// creation, by the groups' value. Runs without that value are the last group.
void sortGroups(const RunsModel& model, const QList<RunSort>& sorts, int column,
                std::vector<RunGroup>& groups) {
  const int by = sorts.isEmpty() ? -1 : model.columnOf(sorts.first().key);
  const bool by_mean = by >= 0 && by != column && by != RunsModel::Created && model.isNumber(by);
  const bool descending = !sorts.isEmpty() && by != RunsModel::Created && sorts.first().descending;
  struct Key {
    std::optional<double> number;
    QString text;
  };
  std::vector<Key> keys;
  for (const RunGroup& group : groups) {
    Key key{std::nullopt, group.value};
    if (by_mean) {
      if (const GroupFigures of = figuresOf(model, group.rows, by); of.count > 0)
        key.number = of.mean;
    } else {
      const QVariant value = model.index(group.rows.front(), column).data(RunsModel::SortRole);
      if (!value.isNull() && value.typeId() != QMetaType::QString) key.number = value.toDouble();
    }
    keys.push_back(key);
  }
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  QCollator collator;
  collator.setNumericMode(true);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (keys[a].number.has_value() != keys[b].number.has_value()) return keys[a].number.has_value();
    if (!keys[a].number && keys[a].text.isEmpty() != keys[b].text.isEmpty())
      return keys[b].text.isEmpty();
    const double difference = keys[a].number ? *keys[a].number - *keys[b].number
                                             : collator.compare(keys[a].text, keys[b].text);
    return descending ? difference > 0 : difference < 0;
  });
  std::vector<RunGroup> sorted;
  for (const size_t at : order) sorted.push_back(std::move(groups[at]));
  groups = std::move(sorted);
}

std::vector<RunGroup> groupsBy(const RunsModel& model, const std::vector<int>& rows,
                               const QList<RunSort>& sorts, int column) {
  std::vector<RunGroup> groups;
  QHash<QString, size_t> known;
  for (const int row : rows) {
    QString value = model.index(row, column).data().toString();
    if (value == format::kNone) value.clear();  // "no lr", not "lr –"
    const auto [at, isNew] = [&] {
      const auto found = known.constFind(value);
      if (found != known.constEnd()) return std::pair(*found, false);
      known.insert(value, groups.size());
      return std::pair(groups.size(), true);
    }();
    if (isNew) groups.push_back({value, {}, column, value});
    groups[at].rows.push_back(row);
  }
  sortGroups(model, sorts, column, groups);
  return groups;
}

/// The groups by the first column, each with its groups by the next column.
class Groups {
 public:
  Groups(const RunsModel& model, const QList<RunSort>& sorts, const std::vector<int>& columns,
         const RunFolds& folds)
      : model_(model), sorts_(sorts), columns_(columns), folds_(folds) {}

  RunOrder order(const std::vector<int>& rows) {
    add(rows, 0, {}, true);
    return std::move(order_);
  }

 private:
  void add(const std::vector<int>& rows, int depth, const QString& around, bool visible) {
    const auto level = static_cast<size_t>(depth);
    for (RunGroup& group : groupsBy(model_, rows, sorts_, columns_[level])) {
      if (depth > 0) group.path = around + kWithin + group.value;
      RunLine head;
      head.group = static_cast<int>(order_.groups.size());
      head.depth = depth;
      head.below = static_cast<int>(group.rows.size());
      head.folded = folds_.groups.contains(group.path);
      const QString path = group.path;
      const bool nests = level + 1 < columns_.size();
      const std::vector<int> inner = nests ? group.rows : std::vector<int>();  // `groups` grows
      order_.groups.push_back(std::move(group));
      if (visible) order_.lines.push_back(head);
      const bool open = visible && !head.folded;
      if (nests) {
        add(inner, depth + 1, path, open);
        continue;
      }
      if (!open) continue;
      for (const int row : order_.groups.back().rows) {
        order_.lines.push_back(lineOf(model_, row));
        order_.lines.back().group = head.group;
      }
    }
  }

  const RunsModel& model_;
  const QList<RunSort>& sorts_;
  const std::vector<int>& columns_;
  const RunFolds& folds_;
  RunOrder order_;
};

class Tree {
 public:
  Tree(const RunsModel& model, const std::vector<int>& rows, const RunFolds& folds)
      : model_(model), folds_(folds), shown_(static_cast<size_t>(model.rowCount()), false) {
    for (const int row : rows) shown_[static_cast<size_t>(row)] = true;
    for (const int row : rows)
      if (const int parent = parentOf(row); parent >= 0)
        children_[parent].push_back(row);
      else
        roots_.push_back(row);
  }

  RunOrder order(const std::vector<int>& rows) {
    RunOrder order;
    for (const int row : roots_) add(order.lines, row, 0, true);
    // A damaged store may have runs that go on from each other in a ring.
    for (const int row : rows)
      if (shown_[static_cast<size_t>(row)]) add(order.lines, row, 0, true);
    return order;
  }

 private:
  int parentOf(int row) const {
    const auto& lineage = model_.row(row).summary.lineage;
    if (!lineage) return -1;
    const int parent = model_.indexOf(lineage->parent);
    return parent >= 0 && parent != row && shown_[static_cast<size_t>(parent)] ? parent : -1;
  }

  /// Its line and those of the runs that go on from it; how many runs that are.
  int add(std::vector<RunLine>& lines, int row, int depth, bool visible) {
    shown_[static_cast<size_t>(row)] = false;  // has its line
    const size_t at = lines.size();
    RunLine line = lineOf(model_, row);
    line.depth = depth;
    line.folded = folds_.runs.contains(line.run);
    if (visible) lines.push_back(line);
    int below = 0;
    for (const int child : children_[row])
      if (shown_[static_cast<size_t>(child)])
        below += 1 + add(lines, child, depth + 1, visible && !line.folded);
    if (visible) lines[at].below = below;
    if (visible && below == 0) lines[at].folded = false;
    return below;
  }

  const RunsModel& model_;
  const RunFolds& folds_;
  std::vector<bool> shown_;
  std::vector<int> roots_;
  std::map<int, std::vector<int>> children_;
};

}  // namespace

std::vector<int> sortRuns(const RunsModel& model, const QList<RunSort>& sorts) {
  std::vector<int> rows(static_cast<size_t>(model.rowCount()));
  std::iota(rows.begin(), rows.end(), 0);
  Sorter(model, sorts).sort(rows);
  return rows;
}

RunOrder orderRuns(const RunsModel& model, const std::vector<int>& rows,
                   const QList<RunSort>& sorts, const QStringList& groups, const RunFolds& folds) {
  if (groups.contains(kByLineage)) return Tree(model, rows, folds).order(rows);
  std::vector<int> columns;
  for (const QString& key : groups)
    if (const int column = model.columnOf(key); column >= 0) columns.push_back(column);
  if (!columns.empty()) return Groups(model, sorts, columns, folds).order(rows);
  RunOrder order;
  order.lines.reserve(rows.size());
  for (const int row : rows) order.lines.push_back(lineOf(model, row));
  return order;
}

GroupFigures figuresOf(const RunsModel& model, const std::vector<int>& rows, int column) {
  GroupFigures figures;
  double sum = 0;
  figures.min = std::numeric_limits<double>::infinity();
  figures.max = -figures.min;
  for (const int row : rows) {
    const auto number = model.number(row, column);
    if (!number) continue;
    if (!std::isfinite(*number)) {
      ++figures.nonfinite;
      continue;
    }
    ++figures.count;
    sum += *number;
    figures.min = std::min(figures.min, *number);
    figures.max = std::max(figures.max, *number);
  }
  if (figures.count > 0) figures.mean = sum / figures.count;
  return figures;
}

}  // namespace heddle::gui
