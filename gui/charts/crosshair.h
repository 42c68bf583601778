// The line and the tooltip that follow the pointer over a chart: a layer of its own, so that moving
// it does not redraw the curves.
#pragma once

#include <QColor>
#include <QRect>
#include <QString>
#include <QVector>
#include <QWidget>
#include <optional>
#include <utility>

namespace heddle::gui {

struct CrosshairLine {
  QString text;
  QColor color = {};  // of the curve; invalid: no curve's
  int marker = -1;    // see RunStroke
};

class Crosshair : public QWidget {
 public:
  explicit Crosshair(QWidget* over);
  /// `x` in pixels, `plot` where curves are; no lines, no tooltip.
  void show(double x, const QRect& plot, QVector<CrosshairLine> lines);
  void clear();
  /// The stretch being dragged, in pixels.
  void setBand(std::optional<std::pair<int, int>> band);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  double x_ = -1;
  QRect plot_;
  std::optional<std::pair<int, int>> band_;
  QVector<CrosshairLine> lines_;
};

}  // namespace heddle::gui
