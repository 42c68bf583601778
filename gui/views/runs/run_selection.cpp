#include "gui/views/runs/run_selection.h"

#include <algorithm>
#include <utility>

namespace heddle::gui {

RunSelection::RunSelection(RunsModel& model, RunsProxy& proxy, QObject* parent)
    : QItemSelectionModel(&proxy, parent), model_(model), proxy_(proxy) {
  connect(this, &QItemSelectionModel::selectionChanged, this, [this] {
    if (!keeping_) Q_EMIT chosenChanged();
  });
}

QList<qint64> RunSelection::runs() const {
  QList<std::pair<int, qint64>> found;
  for (const QModelIndex& index : selectedRows())
    found.append({index.row(), proxy_.row(index).summary.id});
  std::sort(found.begin(), found.end());
  QList<qint64> runs;
  for (const auto& [row, run] : found) runs.append(run);
  return runs + hidden_;
}

/// Few stretches of rows instead of many rows: what a selection costs follows its stretches.
QItemSelection RunSelection::stretchesOf(QList<int> rows) const {
  std::ranges::sort(rows);
  QItemSelection selection;
  for (qsizetype first = 0; first < rows.size();) {
    qsizetype last = first;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    selection.select(proxy_.index(rows[first], 0), proxy_.index(rows[last], 0));
    first = last + 1;
  }
  return selection;
}

void RunSelection::keepOver(const std::function<void()>& change) {
  const QList<qint64> before = runs();
  keeping_ = true;
  change();
  hidden_.clear();
  QList<int> seen;
  for (const qint64 run : before) {
    const int row = model_.indexOf(run);
    if (row < 0) continue;
    const QModelIndex index = proxy_.mapFromSource(model_.index(row, 0));
    if (index.isValid())
      seen.append(index.row());
    else
      hidden_.append(run);
  }
  select(stretchesOf(std::move(seen)), ClearAndSelect | Rows);
  keeping_ = false;
  Q_EMIT chosenChanged();
}

void RunSelection::select(const QItemSelection& selection, SelectionFlags command) {
  if ((command & Clear) && !keeping_) hidden_.clear();
  QItemSelectionModel::select(selection, command);
  if (keeping_ || command == NoUpdate) return;
  const bool adds = (command & (Select | Toggle)) && !(command & Clear);
  const bool ticks = hasSelection() && (adds || (ticks_ && !(command & Clear)) ||
                                        selectedRows().size() + hidden_.size() > 1);
  if (std::exchange(ticks_, ticks) != ticks) Q_EMIT chosenChanged();
}

}  // namespace heddle::gui
