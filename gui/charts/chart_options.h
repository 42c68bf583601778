// How one chart is drawn, to set in a popup: each change shows at once.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>

#include "gui/charts/metric_chart.h"

class QGridLayout;

namespace heddle::gui {

class ChartOptions : public QFrame {
  Q_OBJECT

 public:
  explicit ChartOptions(MetricChart& chart);
  /// Opens under `at`, or over it where there is no room.
  void open(QWidget* at);

 Q_SIGNALS:
  /// The other charts take x and smoothing over.
  void forAllWanted();

 private:
  void addAxes(QGridLayout& form);
  void offer(const std::vector<std::string>& metrics);
  void addCurves(QGridLayout& form);
  void addHelp();
  void apply();
  std::optional<double> limit(QLineEdit* field) const;
  void showSmoothing();

  MetricChart& chart_;
  Job naming_;
  double scale_;  // of the unit in which limits are given
  QComboBox* x_;
  QSlider* smoothing_;
  QLabel* halfLife_;
  QCheckBox* logX_;
  QCheckBox* logY_;
  QCheckBox* outliers_;
  QLineEdit* low_;
  QLineEdit* high_;
  QComboBox* rank_;
  QCheckBox* band_;
  QCheckBox* groups_;
  QCheckBox* difference_;
};

}  // namespace heddle::gui
