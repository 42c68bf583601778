// The colours of a timeline with their names.
#pragma once

#include <QWidget>

namespace heddle::gui {

class TimelineLegend : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineLegend(QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 20}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace heddle::gui
