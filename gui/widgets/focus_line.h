// A line around a widget that has the keyboard and would not show it: tables, logs, scroll areas.
#pragma once

#include <QWidget>

namespace heddle::gui {

class FocusLine : public QWidget {
  Q_OBJECT

 public:
  /// Lies over `of`, and goes with it.
  explicit FocusLine(QWidget* of);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent*) override;
};

}  // namespace heddle::gui
