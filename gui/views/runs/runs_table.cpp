#include "gui/views/runs/runs_table.h"

#include <QMouseEvent>

#include "gui/views/runs/run_selection.h"

namespace heddle::gui {

bool RunsTable::isBox(const QMouseEvent* event) const {
  return event->button() == Qt::LeftButton &&
         indexAt(event->position().toPoint()).column() == RunsModel::Check;
}

/// A row that was clicked is not ticked: the first tick is another's, or turns that one into one.
void RunsTable::beginTicks() {
  if (!static_cast<RunSelection*>(selectionModel())->ticks()) selectionModel()->clearSelection();
}

void RunsTable::mousePressEvent(QMouseEvent* event) {
  onBox_ = isBox(event);
  if (onBox_ && !(event->modifiers() & Qt::ShiftModifier)) beginTicks();
  QTableView::mousePressEvent(event);
}

void RunsTable::mouseDoubleClickEvent(QMouseEvent* event) {
  // Two quick clicks on a box are two clicks, not a wish to open the run.
  if (isBox(event)) return mousePressEvent(event);
  QTableView::mouseDoubleClickEvent(event);
}

void RunsTable::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete) return Q_EMIT deletePressed();
  if (event->key() == Qt::Key_Space) beginTicks();
  QTableView::keyPressEvent(event);
}

QItemSelectionModel::SelectionFlags RunsTable::selectionCommand(const QModelIndex& index,
                                                                const QEvent* event) const {
  using Model = QItemSelectionModel;
  const bool space = event && event->type() == QEvent::KeyPress &&
                     static_cast<const QKeyEvent*>(event)->key() == Qt::Key_Space;
  if (space) return Model::Toggle | Model::Rows;
  const bool click = event && (event->type() == QEvent::MouseButtonPress ||
                               event->type() == QEvent::MouseButtonRelease);
  if (click && static_cast<const QMouseEvent*>(event)->button() == Qt::RightButton)
    return Model::NoUpdate;
  if (!onBox_ || !event) return QTableView::selectionCommand(index, event);
  switch (event->type()) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
      // With Shift: all from the row clicked before to this one, as anywhere in the table.
      if (static_cast<const QMouseEvent*>(event)->modifiers() & Qt::ShiftModifier) break;
      return Model::Toggle | Model::Rows;
    case QEvent::MouseMove:
    case QEvent::MouseButtonRelease:
      return Model::NoUpdate;
    default:
      break;
  }
  return QTableView::selectionCommand(index, event);
}

}  // namespace heddle::gui
