// The table of runs. A click on a row's check box, or the space bar, ticks that row, or unticks it,
// and leaves the other ticks as they are; a drag over boxes does the same to all on the way. A
// click elsewhere in a row, or an arrow key, only looks at the row while others are ticked; where
// none is it chooses the row. Control and Shift choose as in any table; Escape unticks all. The
// right button chooses nothing: its menu is of the row that it points at. A group's head folds with
// a click, Left and Right; its box ticks its runs.
#pragma once

#include <QTableView>

#include "gui/views/runs/run_selection.h"
#include "gui/widgets/key_table.h"

namespace heddle::gui {

class RunsTable : public QTableView {
  Q_OBJECT

 public:
  explicit RunsTable(QWidget* parent = nullptr);

  /// `model`: a RunLines.
  void setModel(QAbstractItemModel* model) override;
  static KeyTable keys();
  bool isEditing() const { return state() == EditingState; }
  /// The place of a line's triangle, which folds it.
  static QRect triangle(const QRect& nameCell, int depth);

 Q_SIGNALS:
  void deletePressed();
  void escapePressed();
  void starPressed(const QModelIndex& index);
  /// The cell of tags was double-clicked, or F2 or T pressed.
  void tagsWanted(const QModelIndex& index);
  void editingEnded();
  /// Sort by the column, or by it too; open the menu of its header.
  void sortPressed(int column, bool adds);
  void headerMenuPressed(int column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void closeEditor(QWidget* editor, QAbstractItemDelegate::EndEditHint hint) override;
  QItemSelectionModel::SelectionFlags selectionCommand(const QModelIndex& index,
                                                       const QEvent* event) const override;

 private:
  RunLines& lines() const { return *static_cast<RunLines*>(model()); }
  RunSelection& chosen() const { return *static_cast<RunSelection*>(selectionModel()); }
  bool isBox(const QMouseEvent* event) const;
  static bool isPlain(const QEvent* event);
  void beginTicks();
  void toggleGroup(const QModelIndex& head);
  bool pressedFold(const QMouseEvent* event);
  void dragTo(int line);
  bool foldedByKey(const QKeyEvent* event);

  bool onBox_ = false;  // where the button went down
  // A drag over boxes.
  int dragFrom_ = -1, dragTo_ = -1;
  bool dragTicks_ = false;
  QList<qint64> before_;  // ticked when it began
};

}  // namespace heddle::gui
