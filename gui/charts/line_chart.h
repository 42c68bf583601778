// Curves over steps (or tokens, or time): title, unit, legend, axes, crosshair, zoom. A redraw's
// cost follows pixels: every curve is reduced to a column a pixel (see CurveLayer). GUI thread
// only.
//
// Dragging zooms to a stretch, a double click shows all; the wheel zooms with Ctrl, and without it
// where the chart has the focus: else it scrolls the view around the chart. Keys: W S zoom, A D
// pan, F all, left and right move the crosshair from sample to sample.
#pragma once

#include <QColor>
#include <QElapsedTimer>
#include <QSharedPointer>
#include <QTimer>
#include <QVector>
#include <optional>
#include <vector>

#include "gui/charts/series.h"
#include "gui/charts/unit.h"
#include "gui/widgets/card.h"
#include "gui/widgets/key_table.h"

class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;

namespace heddle::gui {

class Crosshair;
class CurveLayer;
class Legend;
class UnitTicker;
struct CrosshairLine;
struct LegendEntry;

/// A horizontal line to compare curves with: a limit, a prediction.
struct ReferenceLine {
  double value = 0;
  QString label;  // "limit 80 GiB"
  Tone tone = Tone::muted;
  bool operator==(const ReferenceLine&) const = default;
};

/// A place on x where something happened.
struct ChartMark {
  double x = 0;
  QString label;  // "step 41 leaves the prediction"
  Tone tone = Tone::warn;
  bool operator==(const ChartMark&) const = default;
};

class LineChart : public Card {
  Q_OBJECT

 public:
  LineChart(const QString& title, Unit unit, QWidget* parent = nullptr);
  static KeyTable keys();

  /// Muted, next to the title after the unit, as in "highest rank".
  void setDetail(const QString& detail);
  const QString& detail() const { return detail_; }
  /// The name of x; "step" at first. `clock`: x is Unix seconds, shown as times of day.
  void setXAxis(const QString& name, Unit unit, bool clock = false);
  const QString& xName() const { return xName_; }
  Unit unit() const { return unit_; }
  /// In which size the y axis shows it.
  ScaledUnit yUnit() const;
  void setLog(bool x, bool y);
  void setLimits(const Limits& limits);  // of y
  /// The y axis leaves out values beyond the 1st and the 99th percentile of what is shown.
  void setIgnoresOutliers(bool ignores);

  /// Adds a curve and returns its number, counted from 0. `marker`: see RunStroke; it is drawn on
  /// the curve now and then. Without a name it is not in the legend.
  int addCurve(const QString& name, const QColor& color, int marker = -1);
  /// The range stays: see showAll.
  void clearCurves();
  int curves() const { return static_cast<int>(curves_.size()); }
  void setColor(int curve, const QColor& color);
  const QColor& color(int curve) const { return of(curve).color; }
  const QString& name(int curve) const { return of(curve).name; }
  const Series& series(int curve) const { return of(curve).series; }
  const Series& smooth(int curve) const { return of(curve).smooth; }
  const std::vector<int>& members(int curve) const { return of(curve).members; }

  /// Appends a sample (see Series::append). Drawn within a quarter of a second.
  void append(int curve, double x, double y);
  void setSeries(int curve, Series series);
  /// The curve's smoothed companion, behind which it is faint.
  void setSmooth(int curve, Series smooth);
  /// The curve is the range of several, so many of them at each of its x, and its companion their
  /// mean.
  void setBand(int curve, std::vector<int> members);
  /// Fills the curve from its lowest to its highest sample, pixel by pixel.
  void setFilled(int curve, bool filled);
  /// The curve has more x than its samples, which are those around what is shown.
  void setExtent(int curve, const Range& extent);
  /// Drawn on top, and wider where it is smooth.
  void setHighlighted(int curve, bool highlighted);

  /// Computes smoothed companions from the curves' samples: half-life in x; 0: none.
  void setSmoothing(double halfLife);
  /// Samples at a curve's start that do not determine the y range of a curve ten times as long.
  void setWarmUp(int samples);
  void setReferences(std::vector<ReferenceLine> lines);
  void setMark(std::optional<ChartMark> mark);
  const std::optional<ChartMark>& mark() const { return mark_; }
  /// In the middle while no curve has a sample.
  void setEmptyText(const QString& text);

  /// The x range shown. `showAll`: all there is, growing with it.
  void setXRange(double from, double to);
  void showAll();
  /// The same after another chart has moved: drawn after the events that wait.
  void followXRange(double from, double to);
  void followAll();
  bool showsAll() const { return showsAll_; }
  Range xRange() const;
  /// Extent of the curves' x.
  Range xExtent() const;
  /// Extent of other charts on the same axis: `showAll` shows it too.
  void setGroupExtent(const Range& extent);

  /// The crosshair at x; `withText`: and what the curves are there.
  void setCrosshair(std::optional<double> x, bool withText = true);
  /// The crosshair's text, a line an entry: the place of the sample nearest to x, and every curve
  /// that reaches it.
  QStringList crosshairText(double x) const;
  /// x with its name and unit: "step 412".
  QString placeText(double x) const;

  /// Paints the chart as it is, with all names of its curves, for a picture of that size.
  void paintOn(QPaintDevice& device, const QSize& size);
  /// So large it is in a picture: names of curves take the lines they need.
  QSize pictureSize() const;

  /// Draws pending changes at once.
  void flush();
  /// How often curves were drawn.
  int redraws() const { return redraws_; }

  QSize sizeHint() const override { return {360, 240}; }
  QSize minimumSizeHint() const override { return {180, 120}; }

 Q_SIGNALS:
  /// The user zoomed or panned.
  void xRangeChanged(double from, double to);
  void allShown();
  void crosshairMoved(std::optional<double> x);
  void extentChanged();
  /// Another stretch of x is shown, by a person or by the program.
  void shownChanged();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Curve {
    QString name;
    QColor color;
    int marker = -1;
    Series series;
    Ema ema;
    Series smooth;
    Range extent;
    std::vector<int> members;  // of a band; empty: it is none
    bool filled = false;       // see setFilled
    bool highlighted = false;
  };
  const Curve& of(int curve) const { return curves_[static_cast<size_t>(curve)]; }
  Curve& of(int curve) { return curves_[static_cast<size_t>(curve)]; }

  void changed();
  void redraw();
  void fitLegend();
  Range drawCurves(const Range& x);
  Range shownY(Range y) const;
  void drawAxes(const Range& x, const Range& y, bool empty);
  bool showsMark() const;
  void placeWords();
  void placeMark();
  void placeReferences();
  int linesThrough(const QRectF& place) const;
  QVector<LegendEntry> legendEntries() const;
  void userShows(double from, double to);
  void userShowsAll();
  void zoom(double factor, double around);
  void pan(double share);
  void stepCrosshair(int samples);
  // Even on the axis: x, or its logarithm.
  double toScale(double x) const;
  double fromScale(double x) const;
  double xAt(const QPointF& position) const;
  /// The x of a curve's sample nearest to x; none: no curve has any.
  std::optional<double> sampleNear(double x) const;
  QVector<CrosshairLine> crosshairLines(double x) const;
  QString valueText(const Curve& curve, double x) const;
  void moveCrosshair(std::optional<double> x);
  void releaseDrag(const QPoint& position);

  Legend* legend_ = nullptr;
  QCustomPlot* plot_ = nullptr;
  Crosshair* overlay_ = nullptr;
  QCPItemText* xCaption_ = nullptr;
  QCPItemText* emptyCaption_ = nullptr;
  QString emptyText_;
  QSharedPointer<UnitTicker> xTicker_;
  QSharedPointer<UnitTicker> yTicker_;
  CurveLayer* layer_ = nullptr;
  QString detail_;
  QString xName_;
  Unit unit_;
  Unit xUnit_ = Unit::count;
  bool clock_ = false;
  bool logX_ = false, logY_ = false;
  Limits limits_;
  bool ignoresOutliers_ = false;
  bool hidesValues_ = false;  // at 0 and below, on a logarithmic axis

  std::vector<Curve> curves_;
  std::vector<ReferenceLine> references_;
  std::vector<std::pair<QCPItemStraightLine*, QCPItemText*>> referenceItems_;
  std::optional<ChartMark> mark_;
  QCPItemStraightLine* markLine_ = nullptr;
  QCPItemText* markLabel_ = nullptr;
  double smoothing_ = 0;
  int warmUp_ = 0;
  bool showsAll_ = true;
  Range view_;
  Range groupExtent_;
  std::optional<double> crosshair_;
  std::optional<double> pointed_;  // y under the pointer
  bool crosshairText_ = true;
  std::optional<QPoint> dragStart_;
  QTimer timer_;
  QElapsedTimer sinceRedraw_;
  int redraws_ = 0;
};

}  // namespace heddle::gui
