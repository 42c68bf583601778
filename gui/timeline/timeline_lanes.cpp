#include "gui/timeline/timeline_widget.h"

// A timeline's rows as a person changes them.
namespace heddle::gui {
namespace {

void toggle(QSet<QString>& set, const QString& title) {
  if (!set.remove(title)) set.insert(title);
}

}  // namespace

void TimelineWidget::setCurrentRow(size_t row) {
  if (row == lane_.row) return;
  lane_.row = row;
  viewport()->update();
  Q_EMIT currentRowChanged();
}

void TimelineWidget::togglePinned(size_t row) {
  if (row >= rows_.size()) return;
  LaneChoice lanes = lanes_;
  toggle(lanes.pinned, rows_[row].title);
  setLanes(lanes);
}

void TimelineWidget::toggleCollapsed(size_t row) {
  if (row >= rows_.size()) return;
  LaneChoice lanes = lanes_;
  toggle(lanes.collapsed, rows_[row].title);
  setLanes(lanes);
}

void TimelineWidget::toggleAllCollapsed() {
  LaneChoice lanes = lanes_;
  QSet<QString> all;
  for (const TimelineRow& row : rows_) all.insert(row.title);
  if (lanes.collapsed.contains(all))
    lanes.collapsed.clear();
  else
    lanes.collapsed.unite(all);
  setLanes(lanes);
}

void TimelineWidget::hide(size_t row) {
  if (row >= rows_.size()) return;
  LaneChoice lanes = lanes_;
  lanes.hidden.insert(rows_[row].title);
  lanes.pinned.remove(rows_[row].title);
  setLanes(lanes);
}

void TimelineWidget::showAllRows() {
  LaneChoice lanes = lanes_;
  lanes.hidden.clear();
  lanes.filter.clear();
  setLanes(lanes);
}

void TimelineWidget::toggleCounters() {
  LaneChoice lanes = lanes_;
  lanes.counters = !lanes.counters;
  setLanes(lanes);
}

bool TimelineWidget::laneKey(int key, bool shift) {
  switch (key) {
    case Qt::Key_P:
      togglePinned(lane_.row);
      return true;
    case Qt::Key_C:
      shift ? toggleAllCollapsed() : toggleCollapsed(lane_.row);
      return true;
    case Qt::Key_H:
      shift ? showAllRows() : hide(lane_.row);
      return true;
    case Qt::Key_K:
      Q_EMIT criticalPathWanted();
      return true;
    case Qt::Key_M:
      toggleCounters();
      return true;
    default:
      return false;
  }
}

}  // namespace heddle::gui
