// How the compared runs' steps were spent: a table of the selection or the whole step, a column a
// run, or where these are too many a row; and a bar a run. Longer ones scroll. With a baseline, the
// other runs' numbers are their differences from it.
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
  /// `baseline`: an index of `runs`; none: all numbers are values.
  void display(std::vector<Run> runs, std::optional<int64_t> selected,
               std::optional<size_t> baseline = {});

 private:
  using Part = int64_t Statistics::*;
  void showColumns();
  void showRows();
  void showBars();
  void addRow(int row, const QString& name, std::optional<Kind> kind, Part part);
  /// The run's number, or its difference from the baseline's.
  QLabel* cellOf(size_t run, Part part) const;
  QLabel* overlapOf(size_t run) const;
  QLabel* differenceOf(size_t run, size_t from, Part part) const;

  std::vector<Run> runs_;
  std::optional<size_t> baseline_;

  QLabel* title_;
  QLabel* length_;
  QGridLayout* table_;
  QGridLayout* bars_;
};

}  // namespace heddle::gui
