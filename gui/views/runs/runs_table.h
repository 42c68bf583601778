// The table of runs. Its rows are chosen as in any table; a click on a row's check box, or the
// space bar, ticks that row too, or no more, and leaves the other ticks as they are. The right
// button chooses nothing: its menu is of the row that it points at.
#pragma once

#include <QTableView>

namespace heddle::gui {

class RunsTable : public QTableView {
  Q_OBJECT

 public:
  using QTableView::QTableView;

 Q_SIGNALS:
  void deletePressed();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  QItemSelectionModel::SelectionFlags selectionCommand(const QModelIndex& index,
                                                       const QEvent* event) const override;

 private:
  bool isBox(const QMouseEvent* event) const;
  void beginTicks();

  bool onBox_ = false;  // where the button went down
};

}  // namespace heddle::gui
