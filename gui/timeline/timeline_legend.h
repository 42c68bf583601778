// The colours of a timeline with their names.
#pragma once

#include <QWidget>

namespace heddle::gui {

class TimelineLegend : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineLegend(QWidget* parent = nullptr);
  QSize sizeHint() const override;
  /// Room for the number of entries.
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace heddle::gui
