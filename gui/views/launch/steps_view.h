// Shows the steps of a launch, one under the other.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/views/launch/launch_steps.h"

class QVBoxLayout;

namespace heddle::gui {

class StepsView : public QWidget {
  Q_OBJECT

 public:
  explicit StepsView(QWidget* parent = nullptr);
  void setSteps(const std::vector<LaunchStep>& steps);
  /// In place of steps: what will happen.
  void setHint(const QString& text);

 private:
  void add(const LaunchStep& step);

  QVBoxLayout* rows_;
};

}  // namespace heddle::gui
