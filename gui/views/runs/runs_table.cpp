#include "gui/views/runs/runs_table.h"

#include <QMouseEvent>
#include <QPainter>

#include "gui/theme/theme.h"
#include "gui/views/runs/run_selection.h"

namespace heddle::gui {

bool RunsTable::isBox(const QMouseEvent* event) const {
  return event->button() == Qt::LeftButton &&
         indexAt(event->position().toPoint()).column() == RunsModel::Check;
}

bool RunsTable::ticks() const {
  return static_cast<const RunSelection*>(selectionModel())->ticks();
}

/// A row that was clicked is not ticked: the first tick is another's, or turns that one into one.
void RunsTable::beginTicks() {
  if (!ticks()) selectionModel()->clearSelection();
}

void RunsTable::setEmptyText(const QString& text) {
  emptyText_ = text;
  viewport()->update();
}

void RunsTable::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (model()->rowCount() > 0 || emptyText_.isEmpty()) return;
  QPainter painter(viewport());
  painter.setFont(font::text());
  painter.setPen(colors().muted);
  painter.drawText(viewport()->rect().adjusted(16, 24, -16, -16),
                   Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, emptyText_);
}

/// Whether the event chooses a row plainly, without a key that adds or ranges.
bool RunsTable::isPlain(const QEvent* event) {
  const bool chooses =
      event &&
      (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease ||
       event->type() == QEvent::MouseButtonDblClick || event->type() == QEvent::MouseMove ||
       event->type() == QEvent::KeyPress);
  return chooses && !(static_cast<const QInputEvent*>(event)->modifiers() &
                      (Qt::ShiftModifier | Qt::ControlModifier));
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
  if (event->key() == Qt::Key_Escape && ticks()) return Q_EMIT escapePressed();
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
  const bool onBox = onBox_ && event && event->type() != QEvent::KeyPress;
  if (!onBox && isPlain(event) && ticks()) return Model::NoUpdate;
  if (!onBox) return QTableView::selectionCommand(index, event);
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
