// How the compared runs' steps were spent: a table of the selection or the whole step, and a bar a
// run.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

class StepStatistics : public QWidget {
  Q_OBJECT

 public:
  struct Run {
    QString name;
    QColor color;
    Statistics spent;
  };

  explicit StepStatistics(QWidget* parent = nullptr);
  /// `selected`: the numbers are of a dragged stretch of so many microseconds; else of whole steps.
  void display(const std::vector<Run>& runs, std::optional<int64_t> selected);

 private:
  void addRow(int row, const QString& name, std::optional<Kind> kind, const std::vector<Run>& runs,
              int64_t Statistics::*part);

  QLabel* title_;
  QLabel* length_;
  QGridLayout* table_;
  QGridLayout* bars_;
};

}  // namespace heddle::gui
