// Recipe, environment and results as a table: a row a key (its name is the row's header, so that it
// stays where it is when columns scroll), a column a run, the best value of each result marked;
// with two runs a column for the difference. Shows differing keys or all.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVector>

#include "gui/theme/run_colors.h"
#include "storage/queries.h"

namespace heddle::gui {

class DifferenceModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// GroupRole (of a cell or a row's header): true for a row that names a group; CountRole (of its
  /// header): its keys, "2 of 48". BestRole: the value is the best. ColorRole and MarkerRole (of a
  /// column's header): the run's stroke.
  enum Role { GroupRole = Qt::UserRole, CountRole, BestRole, ColorRole, MarkerRole };

  using QAbstractTableModel::QAbstractTableModel;
  /// `strokes`: as many as runs.
  void setComparison(storage::Comparison comparison, QList<RunStroke> strokes);
  /// Whether keys that are the same in all runs are shown too.
  void setAllKeys(bool all);
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
    QString key;
    QString meaning;  // more than the key tells; mostly empty
    QStringList values;
    QString difference;
    QVector<bool> best;
  };

  void rebuild();
  enum class Kind { given, measured, predicted };
  void addGroup(const QString& name, std::vector<storage::Compared> keys, Kind kind);
  bool hasDifference() const { return comparison_.runs.size() == 2; }
  int runCount() const { return static_cast<int>(comparison_.runs.size()); }

  storage::Comparison comparison_;
  QList<RunStroke> strokes_;
  bool all_ = false;
  std::vector<Row> rows_;
};

}  // namespace heddle::gui
