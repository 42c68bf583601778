// Two keys against each other: a mark a run. Dragging a rectangle reports the runs in it. Keys:
// left and right go from run to run along x, Space reports that run, Esc none. GUI thread only.
#pragma once

#include <QRubberBand>

#include "gui/views/compare/relation_plot.h"

namespace heddle::gui {

class ScatterPlot : public RelationPlot {
  Q_OBJECT

 public:
  explicit ScatterPlot(QWidget* parent = nullptr);
  static KeyTable keys();
  /// Axes have an entry a run.
  void display(std::vector<PlottedRun> runs, ValueAxis x, ValueAxis y);
  QSize sizeHint() const override { return {480, 300}; }

 protected:
  void paintEvent(QPaintEvent*) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool isAt(size_t run, const QPointF& place) const override;

 private:
  QRectF plot() const;
  /// None: the run lacks one of the values, or is hidden.
  std::optional<QPointF> pointOf(size_t run) const;
  void paintAxes(QPainter& painter) const;
  void step(int direction);
  void describe();

  ValueAxis x_, y_;
  std::optional<size_t> current_;
  QPoint pressed_;
  QRubberBand* band_;
};

}  // namespace heddle::gui
