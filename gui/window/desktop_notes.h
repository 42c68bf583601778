// Notifications through the desktop's own service (org.freedesktop.Notifications on the session
// bus), which desktops without a tray have too. No call blocks: the bus is opened on a thread of
// its own, and replies arrive as events. GUI thread only.
#pragma once

#include <QDBusConnection>
#include <QHash>
#include <QObject>
#include <optional>
#include <vector>

#include "gui/models/worker.h"
#include "gui/theme/icons.h"

namespace heddle::gui {

struct DesktopNote {
  qint64 run = 0;
  QString title, text;  // plain
  Tone tone = Tone::text;
};

class DesktopNotes : public QObject {
  Q_OBJECT

 public:
  explicit DesktopNotes(QObject* parent = nullptr);

  void show(const DesktopNote& note);
  /// Closes the notifications that are shown or waiting.
  void withdraw();

 Q_SIGNALS:
  /// The user clicked on the run's notification.
  void opened(qint64 run);
  /// No service accepted it.
  void failed(const heddle::gui::DesktopNote& note);

 private Q_SLOTS:
  void onAction(uint id, const QString& action);
  void onClosed(uint id, uint reason);

 private:
  void goOn();
  void ask();
  void begin(bool markup);
  void send(const DesktopNote& note);
  void fail(std::vector<DesktopNote> notes);

  std::optional<QDBusConnection> bus_;  // opened for the first note
  std::optional<bool> markup_;  // whether the service reads texts as markup; none: not yet known
  bool asking_ = false;
  bool listening_ = false;
  std::vector<DesktopNote> waiting_;  // for the bus, then for the service's reply
  QHash<uint, qint64> shown_;         // runs by the service's ids
  Job opening_;
};

}  // namespace heddle::gui
