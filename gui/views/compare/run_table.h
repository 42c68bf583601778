// The table of many runs, painted: strokes and names at the left, keys on top, a click on which
// sorts. Selected rows are the highlighted runs. Keys: S sorts by the current column, and those of
// run_commands.h for the selected runs.
#pragma once

#include <QTableView>

#include "gui/views/compare/run_table_model.h"

namespace heddle::gui {

class RunTable : public QTableView {
  Q_OBJECT

 public:
  RunTable(RunTableModel& model, CompareChoices& choices, QWidget* parent = nullptr);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QList<qint64> selectedRuns() const;
  void fitColumns();
  void sortBy(int column);
  void showSorting();
  void openMenu(const QPoint& globalPosition);
  /// Selects the rows of the highlighted runs.
  void takeHighlight();
  void giveHighlight();

  RunTableModel& model_;
  CompareChoices& choices_;
  bool taking_ = false;
};

}  // namespace heddle::gui
