// The lines of the runs table: those runs that the filter lets through, sorted, in groups that
// fold. A change of any of them is worked out at once, in one pass over the runs.
#pragma once

#include <QAbstractTableModel>
#include <map>

#include "gui/views/runs/run_order.h"

namespace heddle::gui {

class RunLines : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// RangeRole: "2.10 – 2.52", of a group's head.
  enum Role { RangeRole = RunsModel::EndOfRoles };

  explicit RunLines(RunsModel& model);

  void setFilter(RunFilter filter);
  const RunFilter& filter() const { return filter_; }
  void setSorts(const QList<RunSort>& sorts);
  const QList<RunSort>& sorts() const { return sorts_; }
  /// Columns' keys, the outer first; kByLineage alone; or none.
  void setGroups(const QStringList& keys);
  const QStringList& groups() const { return groups_; }
  bool isTree() const { return groups_.contains(kByLineage); }
  /// Folds a group or a tree, or unfolds it.
  void fold(const QModelIndex& index, bool folded);
  void foldAll(bool folded);
  const RunFolds& folds() const { return folds_; }
  void setFolds(RunFolds folds);

  const RunLine& line(int line) const { return order_.lines[static_cast<size_t>(line)]; }
  bool isHead(const QModelIndex& index) const { return line(index.row()).row < 0; }
  /// The runs of the line: of a group's head all of them, folded or not.
  QList<qint64> runsOf(const QModelIndex& index) const;
  /// The runs that pass the filter.
  int runCount() const { return shownCount_; }
  QList<qint64> shownRuns() const;
  /// How many of the runs pass the filter.
  int countShown(const QList<qint64>& runs) const;
  const RunsModel& runs() const { return runs_; }
  /// For a line that is a run.
  const RunRow& row(const QModelIndex& index) const { return runs_.row(line(index.row()).row); }
  /// The line of a run; -1: it has none, or is folded away.
  int lineOf(qint64 run) const;
  /// The line of a group's head; of the outer group's head if that is folded.
  int lineOfGroup(const QString& path) const;
  QString groupPath(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 Q_SIGNALS:
  /// Before and after lines are put in another order, come or go.
  void rearranging();
  void rearranged();
  void sortsChanged();
  /// A person has typed another name or other notes.
  void edited(qint64 run, const QString& key, const QString& text);

 private:
  bool passes(int row) const;
  void filterRows();
  void sortRows() { sorted_ = sortRuns(runs_, sorts_); }
  RunOrder order() const;
  void arrange();
  void take(RunOrder order);
  QVariant headData(const RunLine& head, int column, int role) const;
  const GroupFigures& figures(int group, int column) const;

  RunsModel& runs_;
  RunFilter filter_;
  QList<RunSort> sorts_;
  QStringList groups_;
  RunFolds folds_;
  std::vector<bool> shown_;  // by row: it passes the filter
  int shownCount_ = 0;
  std::vector<int> sorted_;  // all rows
  RunOrder order_;
  std::vector<int> lineOf_;                                      // by row; -1: none
  mutable std::map<std::pair<int, int>, GroupFigures> figures_;  // by group and column
};

}  // namespace heddle::gui
