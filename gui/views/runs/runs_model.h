// The runs as a table, and the proxy that sorts and filters it.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QSortFilterProxyModel>
#include <map>

#include "gui/views/runs/run_rows.h"
#include "workbench/run_values.h"

namespace heddle::gui {

using workbench::RunFilter;

class RunsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    Check,
    State,
    Name,
    Target,
    Recipe,
    Steps,
    Loss,
    Curve,
    Rate,
    Memory,
    Exposed,
    Created,
    Duration,
    ColumnCount
  };
  /// SortRole: what a column sorts by. ToneRole: the Tone of an exceptional value.
  enum Role { SortRole = Qt::UserRole, RunRole, ToneRole };
  using Values = workbench::RunValues;

  using QAbstractTableModel::QAbstractTableModel;

  /// A column's name in settings: stays the same when columns are added or translated.
  static QString keyOf(int column);
  /// Takes in a new reading: rows that stay keep their index, so that selections live on.
  void setRows(std::vector<RunRow> rows);
  const RunRow& row(int row) const { return rows_[static_cast<size_t>(row)]; }
  int indexOf(storage::RunId run) const { return rowOf_.value(run, -1); }  // -1: not there

  /// Values of a key that is no column of the table, for filters.
  void setValues(const std::string& key, Values values);
  /// Whether a key has values without setValues.
  static bool isOfRow(const std::string& key);
  /// The value of a column ("state", "loss", "steps") or of a key given to setValues.
  std::optional<storage::Value> value(int row, const std::string& key) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<RunRow> rows_;
  QHash<storage::RunId, int> rowOf_;
  std::map<std::string, Values> values_;
};

class RunsProxy : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit RunsProxy(RunsModel& model);
  void setFilter(RunFilter filter);
  const RunFilter& filter() const { return filter_; }
  const RunRow& row(const QModelIndex& index) const;

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  RunsModel& runs_;
  RunFilter filter_;
};

}  // namespace heddle::gui
