// Notifications over a bus that takes the connection and never answers: the window goes on.
#include <QLocalServer>
#include <QLocalSocket>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>
#include <memory>

#include "gui/window/desktop_notes.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class SilentBusTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A process has one session bus.
  void initTestCase() {
    const QString path = folder_.filePath("bus");
    QVERIFY2(bus_.listen(path), qPrintable(bus_.errorString()));
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=" + path.toUtf8());
  }

  void theWindowGoesOnWhileTheBusDoesNotAnswer() {
    auto gone = std::make_unique<DesktopNotes>();
    gone->show({6, "goes before the bus answers", "1", Tone::warn});
    DesktopNotes notes;
    QSignalSpy failed(&notes, &DesktopNotes::failed);
    notes.show({7, "a", "1", Tone::warn});
    QTRY_VERIFY(bus_.hasPendingConnections());
    const std::unique_ptr<QLocalSocket> heddle(bus_.nextPendingConnection());
    // It has begun to talk, and waits for an answer.
    QTRY_VERIFY(heddle->bytesAvailable() > 0);
    gone.reset();
    QTimer ticks;
    QSignalSpy ticked(&ticks, &QTimer::timeout);
    ticks.start(10);
    QTRY_VERIFY(ticked.size() >= 5);
    notes.show({8, "b", "2", Tone::warn});
    QCOMPARE(failed.size(), 0);
    QCOMPARE(heddle->state(), QLocalSocket::ConnectedState);

    // The bus goes: the tray shows both.
    bus_.close();
    heddle->abort();
    QTRY_COMPARE(failed.size(), 2);
    QCOMPARE(failed[0][0].value<DesktopNote>().run, 7);
    QCOMPARE(failed[1][0].value<DesktopNote>().run, 8);
    notes.show({9, "c", "3", Tone::warn});
    QTRY_COMPARE(failed.size(), 3);
  }

 private:
  QTemporaryDir folder_;
  QLocalServer bus_;
};

HEDDLE_WIDGET_TEST(SilentBusTest)
#include "silent_bus_test.moc"
