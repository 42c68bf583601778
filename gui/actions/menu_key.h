// The menu key, and Shift+F10, which keyboards without one have: they open the context menu of what
// has the focus, at its current item. GUI thread only.
#pragma once

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QObject>

namespace heddle::gui {

class MenuKey : public QObject {
  Q_OBJECT

 public:
  /// For all windows of the application.
  explicit MenuKey(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace heddle::gui
