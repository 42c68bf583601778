// A curve without axes: the shape of a series at a glance.
#pragma once

#include <QColor>
#include <QVector>
#include <QWidget>

namespace heddle::gui {

/// Draws values as a 1 px polyline, scaled to their own range, min and max per pixel where there
/// are more values than pixels. NaN leaves a gap. Used by widgets and by table delegates.
void paintSparkline(QPainter* painter, const QRectF& rect, const QVector<double>& values,
                    const QColor& color, bool filled);

class Sparkline : public QWidget {
  Q_OBJECT

 public:
  explicit Sparkline(QWidget* parent = nullptr);
  void setValues(QVector<double> values);
  /// Default: the accent of the theme. An invalid colour means the default.
  void setColor(const QColor& color);
  QSize sizeHint() const override { return {64, 18}; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QVector<double> values_;
  QColor color_;
};

}  // namespace heddle::gui
