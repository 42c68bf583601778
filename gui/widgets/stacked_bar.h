// A whole cut into its parts, drawn as one horizontal bar.
#pragma once

#include <QColor>
#include <QString>
#include <QVector>
#include <QWidget>

namespace heddle::gui {

class StackedBar : public QWidget {
  Q_OBJECT

 public:
  struct Part {
    double value = 0;
    QColor color;
    QString text;  // "compute 2.39 s": the tooltip and the accessible description
  };

  explicit StackedBar(int height = 14, QWidget* parent = nullptr);
  /// `whole` 0: the parts' sum. Larger: the rest stays empty.
  void setParts(QVector<Part> parts, double whole = 0);
  /// A line at this value, in the colour for bad: a limit. 0: none.
  void setMark(double value);

 protected:
  void paintEvent(QPaintEvent*) override;
  bool event(QEvent* event) override;

 private:
  QRectF rectOf(qsizetype part) const;

  QVector<Part> parts_;
  double whole_ = 1;
  double mark_ = 0;
};

/// A small coloured square, for legends.
class Swatch : public QWidget {
  Q_OBJECT

 public:
  explicit Swatch(const QColor& color, QWidget* parent = nullptr);
  void setColor(const QColor& color);

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QColor color_;
};

}  // namespace heddle::gui
