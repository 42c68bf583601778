// The critical path of the shown step: it is found in the background and drawn on the lanes; a
// table says what would have to be faster, and by how much before something else is in the way. GUI
// thread only.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "gui/models/worker.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/figure_table.h"
#include "workbench/critical_path.h"

namespace heddle::gui {

class HurdleModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Name, OnPath, Spans, Faster, Next, AtMost, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;
  void setHurdles(std::vector<workbench::Hurdle> hurdles);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<workbench::Hurdle> hurdles_;
};

class CriticalPathPanel : public QWidget {
  Q_OBJECT

 public:
  explicit CriticalPathPanel(TimelineWidget& timeline);
  bool isReady() const { return !job_.running(); }

 Q_SIGNALS:
  void closed();

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void find();

  TimelineWidget& timeline_;
  int run_ = -1;  // whose path is shown
  Worker worker_;
  Job job_;
  HurdleModel model_;
  ElidedLabel* title_;
  FigureTable* table_;
};

}  // namespace heddle::gui
