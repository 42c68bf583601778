// Recipe, environment and results as a table: a column a run, the best value of each result marked;
// with two runs a column for the difference. Of recipe and environment what differs, or all.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QVector>

#include "storage/queries.h"

namespace heddle::gui {

class DifferenceModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// GroupRole: true for a row that names a group; CountRole: its keys, "2 of 48". BestRole: the
  /// value is the best. ColorRole (of a header): the run's colour; DashRole: its dash.
  enum Role { GroupRole = Qt::UserRole, CountRole, BestRole, ColorRole, DashRole };

  using QAbstractTableModel::QAbstractTableModel;
  void setComparison(storage::Comparison comparison);
  /// Whether keys that are the same in all runs are shown too.
  void setAllKeys(bool all);
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
    QVector<QString> values;
    QString difference;
    QVector<bool> best;
  };

  void rebuild();
  void addGroup(const QString& name, std::vector<storage::Compared> keys, bool results);
  bool hasDifference() const { return comparison_.runs.size() == 2; }

  storage::Comparison comparison_;
  bool all_ = false;
  std::vector<Row> rows_;
};

}  // namespace heddle::gui
