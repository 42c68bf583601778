// The columns of the runs table: as wide as what is in them, in the order and width that a person
// gave them; where there is no room for all, those go first that the drawer shows anyway.
#pragma once

#include <QMap>
#include <QObject>
#include <QTableView>
#include <QTimer>
#include <array>

#include "gui/views/runs/runs_model.h"

namespace heddle::gui {

class RunColumns : public QObject {
  Q_OBJECT

 public:
  /// The table has its model and its delegate.
  explicit RunColumns(QTableView* table);

  /// Rows have changed: a column may need another width.
  void measure();
  /// There is more or less room.
  void fit();
  /// The names of the columns that are hidden for lack of room.
  QStringList spared() const;
  /// Offers all columns to be shown or hidden.
  void offer(const QPoint& globalPosition);
  /// Takes on the layout of the last time, and keeps it from now on.
  void keep();

 Q_SIGNALS:
  void sparedChanged();

 private:
  enum class Shown { whereThereIsRoom, always, never };
  struct Column {
    int needed = 0;  // by header and contents
    int given = 0;   // by the person; 0: none
    Shown shown = Shown::whereThereIsRoom;
  };

  int widthOf(int column) const;
  void reset();
  void save() const;

  QTableView* table_;
  QHeaderView* header_;
  std::array<Column, RunsModel::ColumnCount> columns_;
  std::array<bool, RunsModel::ColumnCount> spared_{};
  bool fitting_ = false;
  bool keeping_ = false;
  QTimer saving_;
};

}  // namespace heddle::gui
