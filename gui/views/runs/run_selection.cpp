#include "gui/views/runs/run_selection.h"

#include <algorithm>
#include <utility>

namespace heddle::gui {

RunSelection::RunSelection(RunLines& lines, QObject* parent)
    : QItemSelectionModel(&lines, parent), lines_(lines) {
  connect(this, &QItemSelectionModel::selectionChanged, this, [this] {
    if (!keeping_) Q_EMIT chosenChanged();
  });
  connect(&lines, &RunLines::rearranging, this, &RunSelection::keep);
  connect(&lines, &RunLines::rearranged, this, &RunSelection::restore);
}

QList<qint64> RunSelection::runs() const {
  QList<int> rows;
  for (const QItemSelectionRange& range : selection())
    for (int row = range.top(); row <= range.bottom(); ++row)
      if (!lines_.isHead(lines_.index(row, 0))) rows.append(row);
  std::ranges::sort(rows);
  QList<qint64> runs;
  for (const int row : rows)
    if (const qint64 run = lines_.line(row).run; runs.isEmpty() || runs.last() != run)
      runs.append(run);
  return runs + hidden_;
}

bool RunSelection::isTicked(qint64 run) const {
  if (!ticks_) return false;
  const int line = lines_.lineOf(run);
  return line >= 0 ? isSelected(lines_.index(line, 0)) : hiddenRuns_.contains(run);
}

/// Few stretches of rows instead of many rows: what a selection costs follows its stretches.
QItemSelection RunSelection::stretchesOf(QList<int> rows) const {
  std::ranges::sort(rows);
  QItemSelection selection;
  for (qsizetype first = 0; first < rows.size();) {
    qsizetype last = first;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    selection.select(lines_.index(rows[first], 0), lines_.index(rows[last], 0));
    first = last + 1;
  }
  return selection;
}

void RunSelection::keep() {
  keeping_ = true;
  kept_ = runs();
  const QModelIndex current = currentIndex();
  currentColumn_ = current.column();
  current_ = current.isValid() ? lines_.line(current.row()).run : 0;
  currentGroup_ = current.isValid() ? lines_.groupPath(current) : QString();
}

void RunSelection::restore() {
  choose(kept_);
  int row = current_ > 0 ? lines_.lineOf(current_) : -1;
  // A run that is folded away leaves its place to the group's head.
  if (row < 0 && !currentGroup_.isEmpty()) row = lines_.lineOfGroup(currentGroup_);
  if (row >= 0) setCurrentIndex(lines_.index(row, std::max(0, currentColumn_)), NoUpdate);
  keeping_ = false;
  Q_EMIT chosenChanged();
}

/// The runs that are still there; the ones without a line are hidden.
void RunSelection::choose(const QList<qint64>& runs) {
  hidden_.clear();
  QList<int> seen;
  for (const qint64 run : runs) {
    if (const int line = lines_.lineOf(run); line >= 0)
      seen.append(line);
    else if (lines_.runs().indexOf(run) >= 0)
      hidden_.append(run);
  }
  hiddenRuns_ = QSet<qint64>(hidden_.begin(), hidden_.end());
  select(stretchesOf(std::move(seen)), ClearAndSelect | Rows);
}

void RunSelection::tick(const QList<qint64>& runs, bool ticked) {
  QList<qint64> all = ticks_ ? this->runs() : QList<qint64>();
  const QSet<qint64> changed(runs.begin(), runs.end());
  all.removeIf([&](qint64 run) { return changed.contains(run); });
  if (ticked) all += runs;
  keeping_ = true;
  choose(all);
  keeping_ = false;
  ticks_ = !all.isEmpty();
  Q_EMIT chosenChanged();
}

void RunSelection::select(const QItemSelection& selection, SelectionFlags command) {
  if ((command & Clear) && !keeping_) {
    hidden_.clear();
    hiddenRuns_.clear();
  }
  QItemSelectionModel::select(selection, command);
  if (keeping_ || command == NoUpdate) return;
  const bool adds = (command & (Select | Toggle)) && !(command & Clear);
  const bool ticks = hasSelection() && (adds || (ticks_ && !(command & Clear)) ||
                                        selectedRows().size() + hidden_.size() > 1);
  if (std::exchange(ticks_, ticks) != ticks) Q_EMIT chosenChanged();
}

}  // namespace heddle::gui
