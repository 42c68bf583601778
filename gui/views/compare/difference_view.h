// The table of differences, painted: group rows raised, best values marked with a check.
#pragma once

#include <QHeaderView>
#include <QTableView>

#include "gui/views/compare/difference_model.h"

namespace heddle::gui {

class DifferenceView : public QTableView {
  Q_OBJECT

 public:
  explicit DifferenceView(DifferenceModel& model, QWidget* parent = nullptr);

  /// From here on all columns are in sight.
  int leastWidth() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void measureValues();
  void fitColumns();
  int runColumns() const;

  int value_ = 0;  // the least width of a run's column
  QString empty_;  // said where there is no row
};

}  // namespace heddle::gui
