// Names of curves with their strokes, in one row; entries that do not fit are counted.
#pragma once

#include <QColor>
#include <QVector>
#include <QWidget>

namespace heddle::gui {

struct LegendEntry {
  QString name;
  QColor color;
  int marker = -1;  // see RunStroke
  int width = 1;
  bool operator==(const LegendEntry&) const = default;
};

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  void setEntries(QVector<LegendEntry> entries);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 18}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QVector<LegendEntry> entries_;
};

}  // namespace heddle::gui
