// Charts that share their x-axis and their crosshair, those over the same x among themselves. GUI
// thread only.
#pragma once

#include <QObject>
#include <vector>

namespace heddle::gui {

class LineChart;

class ChartGroup : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  /// The chart leaves the group when it is destroyed.
  void add(LineChart* chart);

 private:
  void uniteExtents();

  std::vector<LineChart*> charts_;
};

}  // namespace heddle::gui
