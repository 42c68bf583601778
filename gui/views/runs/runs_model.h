// The runs as a table: a row a run, newest first, in the store's order. Lists, groups and filters
// of them are run_lines.h.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <map>
#include <memory>

#include "gui/views/runs/run_rows.h"
#include "workbench/run_values.h"

namespace heddle::gui {

using workbench::RunFilter;

class RunsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// The columns that every table has; those that a person has added follow.
  enum Column {
    Check,
    Star,
    State,
    Name,
    Target,
    Recipe,
    Steps,
    Loss,
    Best,
    Curve,
    Rate,
    Memory,
    Exposed,
    Tags,
    Created,
    Duration,
    ColumnCount
  };
  /// SortRole: what a column sorts by. ToneRole: the Tone of an exceptional value.
  enum Role { SortRole = Qt::UserRole, RunRole, ToneRole, EndOfRoles };
  using Values = workbench::RunValues;

  using QAbstractTableModel::QAbstractTableModel;

  /// A column's name in settings: stays the same when columns are added or translated. It is its
  /// key in filters, too.
  QString keyOf(int column) const;
  /// -1: there is none of that key.
  int columnOf(const QString& key) const;
  bool isNumber(int column) const;
  /// True for numbers, dates and stars.
  bool sortsByNumber(int column) const;
  /// The value in such a column. It may be NaN or infinite.
  std::optional<double> number(int row, int column) const;

  /// Takes in a new reading, newest first.
  void setRows(std::vector<RunRow> rows);
  const RunRow& row(int row) const { return rows_[static_cast<size_t>(row)]; }
  int indexOf(storage::RunId run) const { return rowOf_.value(run, -1); }  // -1: not there

  /// The columns that a person has added, with their values.
  void setAdded(const QStringList& keys, std::map<std::string, Values> values);
  const QStringList& added() const { return added_; }

  /// For the thread that reads: see workbench/metric_tails.h.
  const std::shared_ptr<workbench::MetricTails>& tails() const { return tails_; }

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
  QString display(int row, int column) const;
  QVariant sortKey(int row, int column) const;
  bool hasNumbers(const std::string& key) const;

  std::vector<RunRow> rows_;
  QHash<storage::RunId, int> rowOf_;
  QStringList added_;
  QList<bool> addedNumbers_;
  std::map<std::string, Values> values_;
  std::shared_ptr<workbench::MetricTails> tails_ = std::make_shared<workbench::MetricTails>();
};

}  // namespace heddle::gui
