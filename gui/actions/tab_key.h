// Tab and Shift+Tab: a window's order is made when one of them is pressed, since pages change what
// they show. GUI thread only.
#pragma once

#include <QObject>

namespace heddle::gui {

class TabKey : public QObject {
  Q_OBJECT

 public:
  /// For all windows of the application.
  explicit TabKey(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace heddle::gui
