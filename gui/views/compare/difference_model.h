// Differences of recipe, environment and results as a table: a column a run, the best value of each
// result marked; with two runs a column for the difference.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QVector>

#include "storage/queries.h"

namespace heddle::gui {

class DifferenceModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// GroupRole: true for a row that names a group; CountRole: its number of keys. BestRole: the
  /// value is the best. ColorRole (of a header): the run's colour; DashRole: its dash.
  enum Role { GroupRole = Qt::UserRole, CountRole, BestRole, ColorRole, DashRole };

  using QAbstractTableModel::QAbstractTableModel;
  void setComparison(const storage::Comparison& comparison);
  /// Tab-separated text of the whole table, for the clipboard.
  QString text() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    QString group;  // not empty: the row names a group
    int count = 0;
    QString key;
    QVector<QString> values;
    QString difference;
    QVector<bool> best;
  };

  void addGroup(const QString& name, std::vector<storage::Compared> keys, bool results);
  bool hasDifference() const { return runs_.size() == 2; }

  std::vector<storage::RunSummary> runs_;
  std::vector<Row> rows_;
};

}  // namespace heddle::gui
