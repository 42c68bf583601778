// Parallel coordinates: an axis a key, a line a run. Dragging along an axis brushes a stretch of
// it; the runs inside every brush are reported. Keys: left and right choose an axis, up and down
// keep the upper or lower half of its brush, Esc drops all brushes. GUI thread only.
#pragma once

#include <map>

#include "gui/views/compare/relation_plot.h"

namespace heddle::gui {

class ParallelPlot : public RelationPlot {
  Q_OBJECT

 public:
  explicit ParallelPlot(QWidget* parent = nullptr);
  static KeyTable keys();
  /// Axes have an entry a run. `notes`: one under each axis; may be empty. Brushes stay where the
  /// same axes do.
  void display(std::vector<PlottedRun> runs, std::vector<ValueAxis> axes, QStringList notes);
  QSize sizeHint() const override { return {600, 300}; }

 protected:
  void paintEvent(QPaintEvent*) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool isAt(size_t run, const QPointF& place) const override;

 private:
  struct Brush {
    double low = 0, high = 1;  // places on the axis
  };

  QRectF plot() const;
  double xOf(size_t axis) const;
  double yOf(double place) const;
  double placeAt(double y) const;
  size_t axisAt(double x) const;
  bool isInside(size_t run) const;
  void paintRun(QPainter& painter, size_t run, bool bright) const;
  void paintAxis(QPainter& painter, size_t axis) const;
  void describe();
  /// Reports the runs inside every brush; none: there is no brush, or no run is inside.
  void report();

  std::vector<ValueAxis> axes_;
  QStringList notes_;
  std::map<QString, Brush> brushes_;  // by the axis's name
  size_t current_ = 0;
  std::optional<double> pressed_;  // place
};

}  // namespace heddle::gui
