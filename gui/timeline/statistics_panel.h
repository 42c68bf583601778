// A table of a timeline's selected stretch, or of the whole step, by operator, module or bucket:
// any column sorts it, and its current row is highlighted on the lanes. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QTimer>
#include <vector>

#include "gui/timeline/span_statistics.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/figure_table.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class NameStatisticsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Name, Count, Total, Mean, Shortest, Longest, Share, Exposed, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;
  /// `availableUs`: what shares are of. Keeps the order that was chosen.
  void setRows(std::vector<NameStatistics> rows, int64_t availableUs);
  const NameStatistics& at(int row) const { return rows_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  void order();

  std::vector<NameStatistics> rows_;
  int64_t availableUs_ = 0;
  int column_ = Total;
  bool ascending_ = false;
};

class StatisticsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit StatisticsPanel(TimelineWidget& timeline);

 Q_SIGNALS:
  void closed();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void highlight();

  TimelineWidget& timeline_;
  NameStatisticsModel model_;
  QTimer soon_;  // a drag changes the selection with every pixel
  ElidedLabel* title_;
  Segment* by_;
  FigureTable* table_;
};

}  // namespace heddle::gui
