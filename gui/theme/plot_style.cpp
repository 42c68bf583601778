#include "gui/theme/plot_style.h"

#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

void styleAxis(QCPAxis* axis, bool grid) {
  const Colors& c = colors();
  QFont digits = font::mono(11);
  axis->setBasePen(Qt::NoPen);
  axis->setTickPen(Qt::NoPen);
  axis->setSubTickPen(Qt::NoPen);
  axis->setTickLabelFont(digits);
  axis->setTickLabelColor(c.muted);
  axis->setSelectedTickLabelColor(c.muted);
  axis->setLabelFont(font::caption());
  axis->setLabelColor(c.muted);
  axis->setTickLabelPadding(6);
  axis->setTickLengthIn(0);
  axis->grid()->setVisible(grid);
  axis->grid()->setSubGridVisible(false);
  axis->grid()->setPen(QPen(blend(c.surface, c.line, 0.7), 0));
  axis->grid()->setZeroLinePen(QPen(c.line, 0));
}

void applyTo(QCustomPlot* plot) {
  plot->setBackground(colors().surface);
  for (QCPAxisRect* rect : plot->axisRects())
    for (QCPAxis* axis : rect->axes())
      styleAxis(axis, axis->orientation() == Qt::Vertical && axis->axisType() == QCPAxis::atLeft);
}

}  // namespace

void stylePlot(QCustomPlot* plot) {
  plot->setNoAntialiasingOnDrag(true);
  plot->setPlottingHint(QCP::phFastPolylines, true);
  applyTo(plot);
  QObject::connect(&Theme::instance(), &Theme::changed, plot, [plot] {
    applyTo(plot);
    plot->replot(QCustomPlot::rpQueuedReplot);
  });
}

}  // namespace heddle::gui
