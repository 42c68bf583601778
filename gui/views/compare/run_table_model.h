// Many runs as a table: a row a run (its name is the row's header, so that it stays where it is
// when columns scroll), a column a key. Sorted by any column; runs without a number there come
// last. Shows differing keys or all.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "gui/theme/run_colors.h"
#include "gui/views/compare/compare_choices.h"
#include "gui/views/compare/value_cell.h"

namespace heddle::gui {

class RunTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// A row's header: MutedRole, as of its cells; ColorRole and MarkerRole, the run's stroke;
  /// BaselineRole: it is the baseline; TimelineRole: its timeline is shown.
  enum Role { ColorRole = kRolesOfPages, MarkerRole, BaselineRole, TimelineRole };

  /// `choices` outlives the model.
  explicit RunTableModel(const CompareChoices& choices, QObject* parent = nullptr);
  /// `differing`: its keys that differ. `strokes`: one per run.
  void setComparison(std::shared_ptr<const storage::Comparison> comparison, ComparedKeys differing,
                     QList<RunStroke> strokes);
  void setAllKeys(bool all);
  void setDifferences(bool differences);
  qint64 runAt(int row) const;
  int rowOf(qint64 run) const;  // -1: none
  /// Tab-separated text of the whole table, for the clipboard.
  QString text() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Column -1: the order in which the runs were chosen.
  void sort(int column, Qt::SortOrder order) override;
  /// -1: none, also where the key that it was sorted by is no longer a column.
  int sortColumn() const;
  Qt::SortOrder sortOrder() const { return sortOrder_; }

 private:
  void rebuild();
  void order();
  size_t runOf(int row) const { return order_[static_cast<size_t>(row)]; }
  const ComparedKey& keyOf(int column) const { return *columns_[static_cast<size_t>(column)]; }
  void changed(Qt::Orientation headers);
  QVariant rowHeader(int row, int role) const;

  const CompareChoices& choices_;
  std::shared_ptr<const storage::Comparison> comparison_ =
      std::make_shared<const storage::Comparison>();
  ComparedKeys differing_ = std::make_shared<const std::vector<ComparedKey>>();
  ComparedKeys keys_ = differing_;  // the shown ones
  std::vector<const ComparedKey*> columns_;
  size_t baseline_ = 0;
  QList<RunStroke> strokes_;
  std::vector<size_t> order_;  // runs by row
  std::string sortedBy_;       // a key; empty: as chosen
  Qt::SortOrder sortOrder_ = Qt::AscendingOrder;
  bool all_ = false;
  bool differences_ = false;
};

}  // namespace heddle::gui
