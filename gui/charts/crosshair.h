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
  double y = 0;       // in pixels, where the curve is
};

class Crosshair : public QWidget {
 public:
  explicit Crosshair(QWidget* over);
  /// `x` and the pointer's `y` in pixels, `plot` where curves are; no lines, no tooltip. The first
  /// line is a heading; where the others do not fit, those near the pointer are shown.
  void show(double x, std::optional<double> y, const QRect& plot, QVector<CrosshairLine> lines);
  void clear();
  /// The stretch being dragged, in pixels.
  void setBand(std::optional<std::pair<int, int>> band);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QVector<CrosshairLine> shownLines() const;

  double x_ = -1;
  std::optional<double> y_;
  QRect plot_;
  std::optional<std::pair<int, int>> band_;
  QVector<CrosshairLine> lines_;
};

}  // namespace heddle::gui
