// A table of names and figures in a panel: rows are chosen, columns have fixed widths or share what
// is left, Ctrl+C copies all of it, S sorts by the current column. GUI thread only.
#pragma once

#include <QHeaderView>
#include <QTableView>

#include "gui/widgets/key_table.h"

namespace heddle::gui {

class FigureTable : public QTableView {
  Q_OBJECT

 public:
  /// `id`: its object name; `name`: its accessible name. The model stays its owner's.
  FigureTable(const QString& id, const QString& name, QAbstractItemModel& model);
  static KeyTable keys();

  /// The width of columns that have none of their own.
  void setFigureWidth(int width);
  /// These share what the others leave.
  void stretch(const QList<int>& columns);
  /// A click on a head sorts, too; the model is asked to.
  void sortAlso(int column, Qt::SortOrder order);
  /// Heads and shown texts, tab-separated.
  QString text() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void sortByCurrent();
};

}  // namespace heddle::gui
