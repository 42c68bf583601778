// How the compared runs' steps were spent: a table of the selection or the whole step, a column a
// run, or where these are too many a row; and a bar a run. Longer ones scroll.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <optional>
#include <vector>

#include "gui/theme/run_colors.h"
#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

class StepStatistics : public QScrollArea {
  Q_OBJECT

 public:
  struct Run {
    QString name;
    RunStroke stroke;
    Statistics spent;
  };

  explicit StepStatistics(QWidget* parent = nullptr);
  /// `selected`: the numbers are of a dragged stretch of so many microseconds; else of whole steps.
  void display(const std::vector<Run>& runs, std::optional<int64_t> selected);

 private:
  void showColumns(const std::vector<Run>& runs);
  void showRows(const std::vector<Run>& runs);
  void showBars(const std::vector<Run>& runs);
  void addRow(int row, const QString& name, std::optional<Kind> kind, const std::vector<Run>& runs,
              int64_t Statistics::*part);

  QLabel* title_;
  QLabel* length_;
  QGridLayout* table_;
  QGridLayout* bars_;
};

}  // namespace heddle::gui
