// Numbers of ranks with the fastest layout of each: throughput, memory left on a rank,
// costs. A click on a number takes its layout over.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QWidget>

#include "engine/plan/rank_counts.h"

namespace heddle::gui {

class CountsTable : public QWidget {
  Q_OBJECT

 public:
  explicit CountsTable(QWidget* parent = nullptr);

  /// The counts so far.
  void setCounts(const plan::RankCounts& counts);

 Q_SIGNALS:
  void chosen(const plan::Found& found);

 private:
  void fill();
  void addRow(int row, const plan::RankCount& count);

  plan::RankCounts all_;
  QGridLayout* grid_;
  QLabel* price_;
};

}  // namespace heddle::gui
