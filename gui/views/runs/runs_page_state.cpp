// The Runs page's state after a restart: filter, folds, chosen runs, the place in the table.
#include <QJsonArray>
#include <algorithm>
#include <utility>

#include "gui/models/run_ids.h"
#include "gui/views/runs/runs_page.h"

namespace heddle::gui {
namespace {

constexpr int kRestoreMilliseconds = 20;

/// The first run from that line on; 0: there is none.
qint64 runFrom(const RunLines& lines, int line) {
  for (; line >= 0 && line < lines.rowCount(); ++line)
    if (const qint64 run = lines.line(line).run; run > 0) return run;
  return 0;
}

}  // namespace

QJsonObject RunsPage::keptState() const {
  arrangement_->saveNow();                     // a window that closes has no later moment
  if (!restored_.isEmpty()) return restored_;  // killed before it was in use, it is kept
  const QModelIndex current = table_->currentIndex();
  const RunFolds& folds = lines_.folds();
  return {{"place", static_cast<int>(place_)},
          {"filter", filter_->text()},
          {"folded_groups", QJsonArray::fromStringList(folds.groups.values())},
          {"folded_runs", toJson(folds.runs.values())},
          {"chosen", toJson(selection_->runs())},
          {"ticks", selection_->ticks()},
          {"current", current.isValid() ? qint64{lines_.line(current.row()).run} : 0},
          {"top", runFrom(lines_, table_->rowAt(0))},
          {"drawer", !drawerClosed_}};
}

void RunsPage::restoreState(const QJsonObject& state) {
  if (state.isEmpty()) return;
  restored_ = state;
  drawerClosed_ = !state["drawer"].toBool(true);
  const int place = std::clamp(state["place"].toInt(), 0, static_cast<int>(RunPlace::trash));
  showPlace(static_cast<RunPlace>(place));
  // Lines come with the rows, the filter's values and the added columns, each at its own time.
  restoring_.setInterval(kRestoreMilliseconds);
  connect(&restoring_, &QTimer::timeout, this, &RunsPage::restoreRows);
}

void RunsPage::restoreRows() {
  if (!isReady()) return;
  restoring_.stop();
  const QJsonObject state = std::exchange(restored_, {});
  RunFolds folds;
  for (const QJsonValue& group : state["folded_groups"].toArray())
    folds.groups.insert(group.toString());
  for (const qint64 run : runIds(state["folded_runs"])) folds.runs.insert(run);
  lines_.setFolds(std::move(folds));
  const auto indexOf = [this](const QJsonValue& run) {
    const int line = lines_.lineOf(run.toInteger());
    return line < 0 ? QModelIndex() : lines_.index(line, RunsModel::Name);
  };
  if (const QModelIndex current = indexOf(state["current"]); current.isValid()) {
    const bool closed = drawerClosed_;
    selection_->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    drawerClosed_ = closed;
    drawer_->setVisible(!closed);
  }
  QList<qint64> chosen = runIds(state["chosen"]);
  chosen.removeIf([this](qint64 run) { return model_.indexOf(run) < 0; });
  if (state["ticks"].toBool())
    selection_->tick(chosen, true);
  else if (chosen.size() == 1 && lines_.lineOf(chosen.first()) >= 0)
    selection_->select(lines_.index(lines_.lineOf(chosen.first()), 0),
                       QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (const QModelIndex top = indexOf(state["top"]); top.isValid())
    table_->scrollTo(top, QAbstractItemView::PositionAtTop);
}

}  // namespace heddle::gui
