// The table of runs. A click on a row's check box, or the space bar, ticks that row, or unticks it,
// and leaves the other ticks as they are. A click elsewhere in a row, or an arrow key, only looks
// at the row while others are ticked; where none is it chooses the row. Control and Shift choose as
// in any table; Escape unticks all. The right button chooses nothing: its menu is of the row that
// it points at.
#pragma once

#include <QTableView>

namespace heddle::gui {

class RunsTable : public QTableView {
  Q_OBJECT

 public:
  using QTableView::QTableView;

  /// Why there are no rows.
  void setEmptyText(const QString& text);

 Q_SIGNALS:
  void deletePressed();
  void escapePressed();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  QItemSelectionModel::SelectionFlags selectionCommand(const QModelIndex& index,
                                                       const QEvent* event) const override;

 private:
  bool isBox(const QMouseEvent* event) const;
  static bool isPlain(const QEvent* event);
  bool ticks() const;
  void beginTicks();

  QString emptyText_;
  bool onBox_ = false;  // where the button went down
};

}  // namespace heddle::gui
