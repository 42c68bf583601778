// Curves over steps (or tokens, or time): title, legend, axes with units, crosshair. Cost of a
// repaint follows pixels: every curve is reduced to a column a pixel and drawn with a solid pen of
// width 1; only the highlighted one has a wider, smoothed companion. GUI thread only.
#pragma once

#include <QColor>
#include <QTimer>
#include <QVector>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/charts/series.h"
#include "gui/charts/unit.h"

class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;
class QLabel;

namespace heddle::gui {

class Crosshair;
class Legend;
class UnitTicker;

/// A horizontal line that curves are held against: a limit, a prediction.
struct ReferenceLine {
  double value = 0;
  QString label;  // "limit 80 GiB"
  QColor color;
};

class LineChart : public QWidget {
  Q_OBJECT

 public:
  LineChart(const QString& title, Unit unit, QWidget* parent = nullptr);

  void setTitle(const QString& title);
  /// Muted, beside the title, as in "highest rank". The unit is added by the chart.
  void setNote(const QString& note);
  /// What x counts; "step" at first.
  void setXAxis(const QString& name, Unit unit);

  /// Adds a curve and returns its number, counted from 0.
  int addCurve(const QString& name, const QColor& color, const QVector<qreal>& dash = {});
  void clearCurves();
  int curves() const { return static_cast<int>(curves_.size()); }
  const Series& series(int curve) const { return curves_[static_cast<size_t>(curve)].series; }

  /// Appends a sample; see Series::append. Drawn within a quarter of a second.
  void append(int curve, double x, double y);
  void setSeries(int curve, Series series);

  /// Weight 0 (none) to 0.99 of the past in the smoothed curve. With several curves only the
  /// highlighted one has it.
  void setSmoothing(double weight);
  void setHighlighted(int curve);  // -1: none
  void setReferences(std::vector<ReferenceLine> lines);
  /// Shown in the middle while no curve has a sample.
  void setEmptyText(const QString& text);

  /// The x range shown; whole: all there is, growing with it.
  void setXRange(double from, double to);
  void showAll();
  bool showsAll() const { return showsAll_; }
  Range xRange() const;
  /// Largest extent of the curves' x.
  Range xExtent() const;
  /// The other charts' x extent counts too, so that axes of a group agree.
  void setXExtent(const Range& extent);

  /// The crosshair at x, or none.
  void setCrosshair(std::optional<double> x);
  std::optional<double> crosshair() const { return crosshairX_; }

  /// What the crosshair's tooltip says, a line an entry; empty without crosshair.
  QStringList crosshairText() const;
  /// Draws at once what waits for its turn: for pictures and tests.
  void flush();
  /// Times the curves were redrawn: a test's view of the limit of four a second.
  int redraws() const { return redraws_; }

  QSize sizeHint() const override { return {360, 240}; }
  QSize minimumSizeHint() const override { return {180, 120}; }

 Q_SIGNALS:
  /// The user zoomed or panned (a chart's own growth is no change of range).
  void xRangeChanged(double from, double to);
  void allShown();
  void crosshairMoved(std::optional<double> x);
  void extentChanged();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Curve {
    QString name;
    QColor color;
    QVector<qreal> dash;
    Series series;
    QCPGraph* line = nullptr;
    QCPGraph* smooth = nullptr;
    QCPGraph* gaps = nullptr;
  };

  void changed();
  void redraw();
  void drawCurve(Curve& curve, bool highlighted, Range* values);
  void placeReferences(Range* values);
  void restyle();
  void zoom(double factor, double around);
  void pan(double share);
  void moveCrosshair(int steps);
  std::optional<double> xAt(QPoint position) const;

  QLabel* title_ = nullptr;
  QLabel* note_ = nullptr;
  Legend* legend_ = nullptr;
  QCustomPlot* plot_ = nullptr;
  Crosshair* overlay_ = nullptr;
  QSharedPointer<UnitTicker> xTicker_;
  QSharedPointer<UnitTicker> yTicker_;
  QString noteText_;
  QString xName_;
  Unit unit_;
  Unit xUnit_ = Unit::count;

  std::vector<Curve> curves_;
  std::vector<ReferenceLine> references_;
  std::vector<std::pair<QCPItemStraightLine*, QCPItemText*>> referenceItems_;
  double smoothing_ = 0;
  int highlighted_ = -1;
  bool showsAll_ = true;
  Range view_;
  Range groupExtent_;
  std::optional<double> crosshairX_;
  std::optional<QPoint> dragStart_;
  QTimer redrawTimer_;
  int redraws_ = 0;
};

}  // namespace heddle::gui
