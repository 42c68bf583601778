// Enter presses the button that has the focus, as Space does: Qt leaves that to dialogs' buttons.
// GUI thread only.
#pragma once

#include <QObject>

namespace heddle::gui {

class EnterKey : public QObject {
  Q_OBJECT

 public:
  /// For all windows of the application.
  explicit EnterKey(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace heddle::gui
