#include "gui/views/runs/runs_table.h"

#include <QMouseEvent>
#include <QPainter>
#include <QSet>
#include <algorithm>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kIndent = 16, kTriangle = 18;

}  // namespace

/// Qt scrolls the pixels of an opaque, uncovered viewport and paints only the rows that come into
/// view; in any other viewport each wheel step paints all rows.
RunsTable::RunsTable(QWidget* parent) : QTableView(parent) {
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setProperty("ringed", true);  // room for the focus line
}

/// Lays out rearranged lines at once: Qt would paint them before that, and again after it.
void RunsTable::setModel(QAbstractItemModel* model) {
  QTableView::setModel(model);
  connect(&lines(), &RunLines::rearranged, this, [this] { executeDelayedItemsLayout(); });
}

/// Paints the background of all cells and of the rest of the viewport.
void RunsTable::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  for (const QRect& part : event->region()) painter.fillRect(part, colors().surface);
  painter.end();
  QTableView::paintEvent(event);
}

QRect RunsTable::triangle(const QRect& nameCell, int depth) {
  return {nameCell.left() + 4 + depth * kIndent, nameCell.top(), kTriangle, nameCell.height()};
}

bool RunsTable::isBox(const QMouseEvent* event) const {
  return event->button() == Qt::LeftButton &&
         indexAt(event->position().toPoint()).column() == RunsModel::Check;
}

/// A row that was clicked is not ticked: the first tick is another's, or turns that one into one.
void RunsTable::beginTicks() {
  if (!chosen().ticks()) selectionModel()->clearSelection();
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

/// Ticks all runs of the head's group, or unticks them where all are.
void RunsTable::toggleGroup(const QModelIndex& head) {
  const QList<qint64> runs = lines().runsOf(head);
  const QList<qint64> ticked = chosen().ticks() ? chosen().runs() : QList<qint64>();
  const QSet<qint64> known(ticked.begin(), ticked.end());
  const bool all = std::ranges::all_of(runs, [&](qint64 run) { return known.contains(run); });
  chosen().tick(runs, !all);
}

/// A press on a group's head or on a run's triangle.
bool RunsTable::pressedFold(const QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  const QModelIndex index = indexAt(at);
  if (!index.isValid() || event->button() != Qt::LeftButton) return false;
  const RunLine line = lines().line(index.row());
  const QModelIndex name = index.siblingAtColumn(RunsModel::Name);
  if (lines().isHead(index)) {
    selectionModel()->setCurrentIndex(name, QItemSelectionModel::NoUpdate);
    if (index.column() == RunsModel::Check) {
      toggleGroup(index);
    } else {
      lines().fold(index, !line.folded);
    }
    return true;
  }
  if (line.below == 0 || !triangle(visualRect(name), line.depth).contains(at)) return false;
  lines().fold(index, !line.folded);
  return true;
}

void RunsTable::mousePressEvent(QMouseEvent* event) {
  onBox_ = false;
  dragFrom_ = -1;
  if (pressedFold(event)) return;
  const QModelIndex at = indexAt(event->position().toPoint());
  if (at.isValid() && at.column() == RunsModel::Star && event->button() == Qt::LeftButton)
    return Q_EMIT starPressed(at);
  onBox_ = isBox(event);
  const bool plainBox = onBox_ && !(event->modifiers() & Qt::ShiftModifier);
  if (plainBox) beginTicks();
  QTableView::mousePressEvent(event);
  if (!plainBox || !at.isValid()) return;
  dragFrom_ = dragTo_ = at.row();
  dragTicks_ = selectionModel()->isSelected(at);
  before_ = chosen().runs();
}

/// Ticks or unticks all from where the drag began to this line.
void RunsTable::dragTo(int line) {
  if (line < 0 || line == dragTo_) return;
  dragTo_ = line;
  QList<qint64> passed;
  for (int row = std::min(dragFrom_, line); row <= std::max(dragFrom_, line); ++row)
    if (const RunLine& at = lines().line(row); at.row >= 0) passed.append(at.run);
  // Rows that an earlier part of the drag went over and left again are as they were.
  chosen().tick(chosen().runs(), false);
  if (!before_.isEmpty()) chosen().tick(before_, true);
  chosen().tick(passed, dragTicks_);
  scrollTo(model()->index(line, RunsModel::Check));
}

void RunsTable::mouseMoveEvent(QMouseEvent* event) {
  if (dragFrom_ < 0 || !(event->buttons() & Qt::LeftButton))
    return QTableView::mouseMoveEvent(event);
  const int y = std::clamp(static_cast<int>(event->position().y()), 0, viewport()->height() - 1);
  dragTo(rowAt(y) < 0 && y > 0 ? model()->rowCount() - 1 : rowAt(y));
}

void RunsTable::mouseReleaseEvent(QMouseEvent* event) {
  const bool dragged = dragFrom_ >= 0 && dragTo_ != dragFrom_;
  dragFrom_ = -1;
  if (!dragged) return QTableView::mouseReleaseEvent(event);
  setState(NoState);
}

void RunsTable::mouseDoubleClickEvent(QMouseEvent* event) {
  const QModelIndex at = indexAt(event->position().toPoint());
  // Two quick clicks on a box, a star or a fold are two clicks, not a wish to open the run.
  if (isBox(event) || at.column() == RunsModel::Star || (at.isValid() && lines().isHead(at)))
    return mousePressEvent(event);
  if (at.column() == RunsModel::Tags) return Q_EMIT tagsWanted(at);
  QTableView::mouseDoubleClickEvent(event);
}

/// Left folds, Right unfolds. From a run or group within a group, Left goes to that group's head.
bool RunsTable::foldedByKey(const QKeyEvent* event) {
  const QModelIndex at = currentIndex();
  if (!at.isValid() || event->modifiers() & ~Qt::KeypadModifier) return false;
  const RunLine line = lines().line(at.row());
  const bool head = lines().isHead(at);
  if (head && (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return ||
               event->key() == Qt::Key_Enter)) {
    if (event->key() == Qt::Key_Space)
      toggleGroup(at);
    else
      lines().fold(at, !line.folded);
    return true;
  }
  if (event->key() == Qt::Key_Right && line.below > 0 && line.folded) {
    lines().fold(at, false);
    return true;
  }
  if (event->key() != Qt::Key_Left) return false;
  if (line.below > 0 && !line.folded) {
    lines().fold(at, true);
    return true;
  }
  const bool outermost = head && line.depth == 0;
  for (int row = at.row() - 1; row >= 0 && !outermost && !lines().groups().isEmpty(); --row) {
    const RunLine& above = lines().line(row);
    if (head ? above.row >= 0 || above.depth >= line.depth
             : above.row >= 0 && above.depth >= line.depth)
      continue;
    selectionModel()->setCurrentIndex(model()->index(row, at.column()),
                                      QItemSelectionModel::NoUpdate);
    return true;
  }
  return false;
}

void RunsTable::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete) return Q_EMIT deletePressed();
  if (event->key() == Qt::Key_Escape && chosen().ticks()) return Q_EMIT escapePressed();
  if (foldedByKey(event)) return;
  if (event->key() == Qt::Key_F2 && currentIndex().isValid() && !lines().isHead(currentIndex())) {
    if (currentIndex().column() == RunsModel::Tags) return Q_EMIT tagsWanted(currentIndex());
    const bool editable = currentIndex().flags() & Qt::ItemIsEditable;
    edit(editable ? currentIndex() : currentIndex().siblingAtColumn(RunsModel::Name));
    return;
  }
  const int column = currentIndex().column();
  if (event->key() == Qt::Key_O && column >= 0)
    return Q_EMIT sortPressed(column, event->modifiers() & Qt::ShiftModifier);
  if (event->key() == Qt::Key_H && column >= 0) return Q_EMIT headerMenuPressed(column);
  if (event->key() == Qt::Key_Space) beginTicks();
  QTableView::keyPressEvent(event);
}

KeyTable RunsTable::keys() {
  return {tr("In the table of runs"),
          {{{Qt::Key_Return}, tr("Open the run in Live"), tr("double click")},
           {{Qt::Key_Space}, tr("Tick or untick the run, or its group"), tr("click on the box")},
           {{Qt::SHIFT | Qt::Key_Up, Qt::SHIFT | Qt::Key_Down}, tr("Choose from here to there")},
           {{Qt::Key_Escape}, tr("Untick all")},
           {{Qt::Key_F2}, tr("Edit the name or the cell")},
           {{Qt::Key_O, Qt::SHIFT | Qt::Key_O},
            tr("Sort by the column; by it too"),
            tr("click on the header; with Shift")},
           {{Qt::Key_H}, tr("Menu of the column"), tr("right click on the header")},
           {{Qt::Key_Left, Qt::Key_Right}, tr("Fold and unfold a group or a tree")},
           {{Qt::Key_Delete}, tr("Move to the trash")}}};
}

void RunsTable::closeEditor(QWidget* editor, QAbstractItemDelegate::EndEditHint hint) {
  QTableView::closeEditor(editor, hint);
  Q_EMIT editingEnded();
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
  if (!onBox && isPlain(event) && chosen().ticks()) return Model::NoUpdate;
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
