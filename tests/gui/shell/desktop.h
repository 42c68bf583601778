// A desktop for a window's notifications: the test's own session bus, with or without a
// notification service.
#pragma once

#include <QDBusArgument>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVirtualObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace heddle::test {

/// Create it before anything uses the session bus: this becomes the session bus.
class SessionBus {
 public:
  ~SessionBus() {
    daemon_.kill();
    daemon_.waitForFinished();
  }

  /// Empty: the bus runs; else why not.
  QString start() {
    const QString program = QStandardPaths::findExecutable(QStringLiteral("dbus-daemon"));
    if (program.isEmpty()) return QStringLiteral("dbus-daemon is not installed");
    const QString file = folder_.filePath(QStringLiteral("bus.conf"));
    QFile config(file);
    if (!config.open(QIODevice::WriteOnly)) return config.errorString();
    config.write(QStringLiteral("<busconfig><type>session</type><listen>unix:dir=%1</listen>"
                                "<policy context=\"default\"><allow send_destination=\"*\"/>"
                                "<allow receive_sender=\"*\"/>"
                                "<allow own=\"*\"/></policy></busconfig>\n")
                     .arg(folder_.path())
                     .toUtf8());
    config.close();
    daemon_.start(program, {QStringLiteral("--config-file=") + file,
                            QStringLiteral("--print-address"), QStringLiteral("--nofork")});
    if (!daemon_.waitForReadyRead()) return QString::fromUtf8(daemon_.readAllStandardError());
    address_ = QString::fromUtf8(daemon_.readLine()).trimmed();
    qputenv("DBUS_SESSION_BUS_ADDRESS", address_.toUtf8());
    return {};
  }
  const QString& address() const { return address_; }

 private:
  QTemporaryDir folder_;
  QProcess daemon_;
  QString address_;
};

/// The notification service, on its own connection.
class Desktop : public QDBusVirtualObject {
 public:
  explicit Desktop(const SessionBus& bus)
      : bus_(QDBusConnection::connectToBus(bus.address(), QStringLiteral("desktop"))) {
    bus_.registerVirtualObject(kPath, this);
    owns = bus_.registerService(kName);
  }
  ~Desktop() override {
    bus_.unregisterService(kName);
    bus_.unregisterObject(kPath);
    QDBusConnection::disconnectFromBus(QStringLiteral("desktop"));
  }

  struct Shown {
    QString title, text;
    QStringList actions;
    QVariantMap hints;
  };

  /// Clicks on the notification, numbered from 1.
  void click(uint id) { Q_UNUSED(bus_.send(signalOf("ActionInvoked") << id << "default")); }
  void close(uint id) { Q_UNUSED(bus_.send(signalOf("NotificationClosed") << id << uint(2))); }

  bool owns = false;
  QStringList capabilities{QStringLiteral("body"), QStringLiteral("body-markup")};
  std::vector<Shown> shown;
  QList<uint> withdrawn;

  QString introspect(const QString&) const override { return {}; }
  bool handleMessage(const QDBusMessage& message, const QDBusConnection& connection) override {
    const QVariantList given = message.arguments();
    if (message.member() == QLatin1String("GetCapabilities"))
      return connection.send(message.createReply(QVariant(capabilities)));
    if (message.member() == QLatin1String("CloseNotification")) {
      withdrawn << given.value(0).toUInt();
      return connection.send(message.createReply());
    }
    if (message.member() != QLatin1String("Notify") ||
        message.signature() != QLatin1String("susssasa{sv}i"))
      return false;
    shown.push_back({given[3].toString(), given[4].toString(), given[5].toStringList(),
                     qdbus_cast<QVariantMap>(given[6])});
    return connection.send(message.createReply(QVariant::fromValue(uint(shown.size()))));
  }

 private:
  static QDBusMessage signalOf(const char* name) {
    return QDBusMessage::createSignal(kPath, kName, QString::fromLatin1(name));
  }
  static inline const QString kName = QStringLiteral("org.freedesktop.Notifications");
  static inline const QString kPath = QStringLiteral("/org/freedesktop/Notifications");

  QDBusConnection bus_;
};

}  // namespace heddle::test
