// Recipe, environment and results as a table: a row a key (its name is the row's header, so that it
// stays where it is when columns scroll), a column a run, the best value of each result marked.
// Two runs have a column for the difference from the baseline; of more, cells can show it instead
// of their values. Shows differing keys or all.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <memory>

#include "gui/theme/run_colors.h"
#include "gui/views/compare/value_cell.h"

namespace heddle::gui {

class DifferenceModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// GroupRole (of a cell or a row's header): true for a row that names a group; CountRole (of its
  /// header): its keys, "2 of 48". ColorRole and MarkerRole (of a column's header): the run's
  /// stroke; BaselineRole: whether it is the baseline. Cells have the roles of value_cell.h too.
  enum Role { GroupRole = kRolesOfPages, CountRole, ColorRole, MarkerRole, BaselineRole };

  using QAbstractTableModel::QAbstractTableModel;
  /// `strokes`: as many as runs. `baseline`: a run of the comparison.
  void setComparison(std::shared_ptr<const storage::Comparison> comparison,
                     QList<RunStroke> strokes, size_t baseline = 0);
  /// Whether keys that are the same in all runs are shown too.
  void setAllKeys(bool all);
  /// Whether results are shown as their difference from the baseline's.
  void setDifferences(bool differences);
  /// A hint for a table without rows; empty: there are some.
  QString emptyText() const;
  /// Tab-separated text of the whole table, for the clipboard.
  QString text() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    QString group;  // not empty: the row names a group
    QString count;
    ComparedKey key;
  };

  void rebuild();
  bool hasDifference() const { return comparison_->runs.size() == 2; }
  int runCount() const { return static_cast<int>(comparison_->runs.size()); }
  /// The run of a column; of the difference's, the one that it is of.
  size_t runOf(int column) const;

  std::shared_ptr<const storage::Comparison> comparison_ =
      std::make_shared<const storage::Comparison>();
  QList<RunStroke> strokes_;
  size_t baseline_ = 0;
  bool all_ = false;
  bool differences_ = false;
  std::vector<Row> rows_;
};

}  // namespace heddle::gui
