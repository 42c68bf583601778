#include "gui/window/notifier.h"

#include <QEvent>

#include "gui/preferences.h"

namespace heddle::gui {
namespace {

QString alertSubject(storage::RunId run) { return QStringLiteral("alert %1").arg(run); }

bool isWanted(RunNews::Kind kind) {
  switch (kind) {
    case RunNews::Kind::alert:
      return preferences().notifiesAlerts;
    case RunNews::Kind::end:
      return preferences().notifiesEnds;
    case RunNews::Kind::failure:
      return preferences().notifiesFailures;
  }
  return true;
}

}  // namespace

Notifier::Notifier(Session& session, QWidget* window)
    : QObject(window), session_(session), window_(window), reading_(session.readingThread(), this) {
  connect(&session, &Session::storeChanged, this, [this] { changed_ = true; });
  connect(&session, &Session::secondPassed, this, &Notifier::look);
  connect(&desktop_, &DesktopNotes::opened, this, &Notifier::open);
  connect(&desktop_, &DesktopNotes::failed, this, &Notifier::showInTray);
  window->installEventFilter(this);
}

void Notifier::look() {
  if (!changed_ || reading_.running()) return;
  changed_ = false;
  session_.read(
      reading_, [cursor = cursor_](storage::Reader& reader) { return readNews(reader, cursor); },
      [this](Result<NewsUpdate> update) {
        // The pages say what the store's trouble is; the news comes with the next look.
        if (!update) return;
        cursor_ = std::move(update->cursor);
        for (const RunNews& news : update->news) tell(news);
      });
}

void Notifier::tell(const RunNews& news) {
  if (news.kind == RunNews::Kind::alert)
    Q_EMIT session_.message(QStringLiteral("%1: %2").arg(news.title, news.text), news.tone,
                            alertSubject(news.run));
  else
    Q_EMIT session_.messageSettled(alertSubject(news.run));
  if (!isWanted(news.kind) || window_->isActiveWindow()) return;
  Q_EMIT notified(news.title, news.text);
  desktop_.show({news.run, news.title, news.text, news.tone});
}

void Notifier::showInTray(const DesktopNote& note) {
  shown_ = note.run;
  if (!QSystemTrayIcon::isSystemTrayAvailable()) return;
  if (!tray_) {
    tray_ = new QSystemTrayIcon(icon(QStringLiteral("heddle"), Tone::accent), this);
    connect(tray_, &QSystemTrayIcon::messageClicked, this, [this] { open(shown_); });
    connect(tray_, &QSystemTrayIcon::activated, this, [this] { open(shown_); });
  }
  tray_->setToolTip(note.title);
  tray_->show();
  tray_->showMessage(note.title, note.text,
                     note.tone == Tone::bad    ? QSystemTrayIcon::Critical
                     : note.tone == Tone::warn ? QSystemTrayIcon::Warning
                                               : QSystemTrayIcon::Information);
}

void Notifier::open(qint64 run) {
  window_->setWindowState(window_->windowState() & ~Qt::WindowMinimized);
  window_->raise();
  window_->activateWindow();
  Q_EMIT session_.runRequested(QStringLiteral("live"), run);
}

bool Notifier::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::WindowActivate) {
    desktop_.withdraw();
    if (tray_) tray_->hide();
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace heddle::gui
