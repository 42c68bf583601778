// Enter presses the focused button, as Space does: Qt does that only for push buttons in dialogs.
// GUI thread only.
#pragma once

#include <QObject>

namespace heddle::gui {

class EnterKey : public QObject {
  Q_OBJECT

 public:
  /// Applies to all windows of the application.
  explicit EnterKey(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace heddle::gui
