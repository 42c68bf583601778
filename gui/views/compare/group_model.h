// Groups of runs as a table: a row a group, a column a result: the mean over its runs, their range
// in the tooltip and, where there is one, after the mean. The best mean is marked. With a baseline,
// means are shown as differences from its group's mean, or from its own values if it is in no
// group.
#pragma once

#include <QAbstractTableModel>

#include "gui/views/compare/value_cell.h"

namespace heddle::gui {

class GroupModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  /// `groups`: an entry a run; runs in none are left out. Keys that are no results are too.
  /// `baseline`: the run from which means are differences; none: they are values.
  void setGroups(const std::vector<ComparedKey>& keys, const QStringList& groups,
                 std::optional<size_t> baseline = {});

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Cell {
    QString text, range;
    QString difference;  // empty: the mean is shown
    double heat = 0;
    bool best = false;
  };

  QStringList names_;  // "lr 1e-3 · 4 runs", by row
  std::vector<ComparedKey> keys_;
  std::vector<std::vector<Cell>> cells_;  // by row and column
};

}  // namespace heddle::gui
