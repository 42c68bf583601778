#include "gui/window/desktop_notes.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <utility>

namespace heddle::gui {
namespace {

// https://specifications.freedesktop.org/notification-spec/latest/
const QString kService = QStringLiteral("org.freedesktop.Notifications");
const QString kServicePath = QStringLiteral("/org/freedesktop/Notifications");
const QString kOpenAction = QStringLiteral("default");  // a click on the notification itself
constexpr int kAnswerMilliseconds = 5000;
constexpr int kUsualTime = -1;  // it stays as long as the desktop wants
enum Urgency : uchar { kUsual = 1, kCritical = 2 };

QDBusMessage callOf(const QString& method) {
  return QDBusMessage::createMethodCall(kService, kServicePath, kService, method);
}

/// Opens the bus, which takes 25 seconds where the bus does not answer. Joined as the process ends.
Worker& opener() {
  // Qt's list of connections outlives the thread that uses it: looking one up makes the list.
  [[maybe_unused]] static const bool listed = QDBusConnection(QStringLiteral("none")).isConnected();
  static Worker worker;
  return worker;
}

}  // namespace

DesktopNotes::DesktopNotes(QObject* parent) : QObject(parent), opening_(opener(), this) {}

void DesktopNotes::show(const DesktopNote& note) {
  waiting_.push_back(note);
  if (bus_) return goOn();
  if (opening_.running()) return;
  opening_.add([] { return QDBusConnection::sessionBus(); },
               [this](const QDBusConnection& bus) {
                 bus_ = bus;
                 goOn();
               });
}

/// The next step for the notes that wait.
void DesktopNotes::goOn() {
  if (!bus_->isConnected()) return fail(std::exchange(waiting_, {}));
  if (!markup_) return asking_ ? void() : ask();
  for (const DesktopNote& note : std::exchange(waiting_, {})) send(note);
}

void DesktopNotes::ask() {
  asking_ = true;
  auto* answer = new QDBusPendingCallWatcher(
      bus_->asyncCall(callOf(QStringLiteral("GetCapabilities")), kAnswerMilliseconds), this);
  connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
    answer->deleteLater();
    asking_ = false;
    const QDBusPendingReply<QStringList> reply = *answer;
    if (reply.isError()) return fail(std::exchange(waiting_, {}));
    begin(reply.value().contains(QStringLiteral("body-markup")));
  });
}

void DesktopNotes::begin(bool markup) {
  markup_ = markup;
  if (!std::exchange(listening_, true)) {
    bus_->connect(kService, kServicePath, kService, QStringLiteral("ActionInvoked"), this,
                  SLOT(onAction(uint, QString)));
    bus_->connect(kService, kServicePath, kService, QStringLiteral("NotificationClosed"), this,
                  SLOT(onClosed(uint, uint)));
  }
  goOn();
}

void DesktopNotes::send(const DesktopNote& note) {
  const QVariantMap hints{
      {QStringLiteral("desktop-entry"), QStringLiteral("heddle")},
      {QStringLiteral("urgency"),
       QVariant::fromValue(uchar(note.tone == Tone::bad ? kCritical : kUsual))}};
  QDBusMessage call = callOf(QStringLiteral("Notify"));
  call << QStringLiteral("Heddle") << uint(0) << QStringLiteral("heddle") << note.title
       << (*markup_ ? note.text.toHtmlEscaped() : note.text)
       << QStringList{kOpenAction, tr("Open in Live")} << hints << kUsualTime;
  auto* answer = new QDBusPendingCallWatcher(bus_->asyncCall(call, kAnswerMilliseconds), this);
  connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer, note] {
    answer->deleteLater();
    const QDBusPendingReply<uint> reply = *answer;
    if (!reply.isError()) {
      shown_.insert(reply.value(), note.run);
      return;
    }
    markup_.reset();  // the next service may be another one
    fail({note});
  });
}

void DesktopNotes::fail(std::vector<DesktopNote> notes) {
  for (const DesktopNote& note : notes) Q_EMIT failed(note);
}

void DesktopNotes::withdraw() {
  waiting_.clear();
  for (auto each = shown_.keyBegin(); each != shown_.keyEnd(); ++each)
    bus_->asyncCall(callOf(QStringLiteral("CloseNotification")) << *each);
  shown_.clear();
}

void DesktopNotes::onAction(uint id, const QString& action) {
  const auto found = shown_.constFind(id);
  if (found == shown_.constEnd() || action != kOpenAction) return;
  const qint64 run = *found;  // the window that becomes active withdraws all
  Q_EMIT opened(run);
}

void DesktopNotes::onClosed(uint id, uint) { shown_.remove(id); }

}  // namespace heddle::gui
