// Two aligned steps as a table: a row a bucket, phase, module, node or use of memory, the largest
// difference first, and above all of them the step, which they add up to.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "engine/plan/memory_bytes.h"
#include "workbench/step_alignment.h"

namespace heddle::gui {

class StepRows : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Name, Left, Right, Difference, Compute, Exposed, Bubble, Idle, ColumnCount };
  /// SpansRole: whether the row is of spans, which can be shown.
  enum Role { SpansRole = Qt::UserRole };

  using QAbstractTableModel::QAbstractTableModel;
  /// The first row becomes "the step". `leftName`, `rightName`: heads of the columns.
  void setSteps(std::vector<workbench::Row> rows, const QString& leftName,
                const QString& rightName);
  void setMemory(const plan::MemoryBytes& left, const plan::MemoryBytes& right,
                 const QString& leftName, const QString& rightName);
  void clear();
  /// The row of that name; −1: there is none.
  int rowOf(const std::string& name) const;
  const std::string& nameOf(int row) const { return rows_[static_cast<size_t>(row)].name; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  enum class Unit { time, bytes };
  struct Row {
    std::string name;
    int64_t left = 0, right = 0;
    workbench::Spent difference;
    bool spans = false;
  };

  void show(std::vector<Row> rows, Unit unit, const QString& leftName, const QString& rightName);
  QString amount(int64_t value) const;
  /// With its sign; empty: none.
  QString change(int64_t value) const;

  std::vector<Row> rows_;
  Unit unit_ = Unit::time;
  QString leftName_, rightName_;
};

}  // namespace heddle::gui
