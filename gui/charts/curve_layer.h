// All curves of a plot, drawn in one go from columns of a pixel: strokes of width 1, whose cost
// follows pixels; wider ones only for what is highlighted.
#pragma once

#include <QColor>
#include <vector>

#include "gui/charts/series.h"
#include "gui/theme/qcustomplot.h"

namespace heddle::gui {

/// One curve, reduced to columns.
struct DrawnCurve {
  QColor color;
  int marker = -1;           // see RunStroke
  bool highlighted = false;  // on top of the others, and wider
  bool hasBand = false;      // raw is filled from its lowest to its highest value, not drawn
  std::vector<Column> raw;
  std::vector<Column> smooth;  // with these raw is faint
  std::vector<double> gaps;    // x of samples that are not finite

  const std::vector<Column>& line() const { return smooth.empty() ? raw : smooth; }
};

class CurveLayer : public QCPAbstractPlottable {
 public:
  CurveLayer(QCPAxis* x, QCPAxis* y) : QCPAbstractPlottable(x, y) {}
  void setCurves(std::vector<DrawnCurve> curves) { curves_ = std::move(curves); }
  /// How many lines go through a place, in pixels.
  int linesThrough(const QRectF& place) const;

  // Axes are set by the chart, nothing is selected, and the plot's own legend is not used.
  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain) const override {
    return found = false, QCPRange();
  }
  QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override {
    return found = false, QCPRange();
  }

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

 private:
  void drawBand(QCPPainter& painter, const DrawnCurve& curve) const;
  /// A smoothed curve's extremes within a pixel are its neighbours.
  enum class Extremes { drawn, leftOut };
  void drawLine(QCPPainter& painter, const std::vector<Column>& columns, const QColor& color,
                Extremes extremes, int width) const;
  void drawMarks(QCPPainter& painter, const DrawnCurve& curve, size_t number) const;
  void drawLone(QCPPainter& painter, const DrawnCurve& curve) const;
  void drawGaps(QCPPainter& painter, const DrawnCurve& curve) const;

  std::vector<DrawnCurve> curves_;
};

}  // namespace heddle::gui
