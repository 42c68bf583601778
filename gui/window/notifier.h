// Tells a person of runs' ends and alerts: alerts as toasts, and both as notifications of the
// desktop while the window is not active, as the preferences want them by kind. Where the desktop
// has no service for them, its tray shows them; without a tray, none is shown. GUI thread only.
#pragma once

#include <QSystemTrayIcon>
#include <QWidget>

#include "gui/session.h"
#include "gui/window/desktop_notes.h"
#include "gui/window/run_news.h"

namespace heddle::gui {

class Notifier : public QObject {
  Q_OBJECT

 public:
  /// `window`: whose being active makes notifications needless.
  Notifier(Session& session, QWidget* window);

 Q_SIGNALS:
  /// The desktop is asked to show it.
  void notified(const QString& title, const QString& text);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void look();
  void tell(const RunNews& news);
  void showInTray(const DesktopNote& note);
  void open(qint64 run);

  Session& session_;
  QWidget* window_;
  Job reading_;
  NewsCursor cursor_;
  bool changed_ = true;
  DesktopNotes desktop_;
  QSystemTrayIcon* tray_ = nullptr;  // made for its first notification
  qint64 shown_ = 0;                 // the run of the newest one there
};

}  // namespace heddle::gui
