// Notifications over D-Bus: the calls that the desktop's service gets, the effect of its replies,
// and desktops without one.
#include "gui/window/desktop_notes.h"

#include <QSignalSpy>

#include "tests/gui/shell/desktop.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class DesktopNotesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const QString reason = bus_.start();
    QVERIFY2(reason.isEmpty(), qPrintable(reason));
  }

  void itIsShownWithItsUrgency() {
    test::Desktop desktop(bus_);
    QVERIFY(desktop.owns);
    DesktopNotes notes;
    notes.show({7, "night failed", "rank 1 was killed", Tone::bad});
    notes.show({8, "day is done", "step 300", Tone::good});
    QTRY_COMPARE(desktop.shown.size(), size_t{2});
    QCOMPARE(desktop.shown[0].title, QString("night failed"));
    QCOMPARE(desktop.shown[0].text, QString("rank 1 was killed"));
    QCOMPARE(desktop.shown[0].hints.value("urgency").value<uchar>(), uchar(2));
    QCOMPARE(desktop.shown[0].hints.value("desktop-entry").toString(), QString("heddle"));
    QCOMPARE(desktop.shown[1].hints.value("urgency").value<uchar>(), uchar(1));
    QCOMPARE(desktop.shown[1].actions, (QStringList{"default", "Open in Live"}));
  }

  // A run's name can be any text.
  void markupOfOthersIsText() {
    test::Desktop desktop(bus_);
    DesktopNotes marked;
    marked.show({7, "<b>bold</b>", "<a href=\"x\">step</a>", Tone::warn});
    QTRY_COMPARE(desktop.shown.size(), size_t{1});
    QCOMPARE(desktop.shown[0].title, QString("<b>bold</b>"));  // never markup
    QCOMPARE(desktop.shown[0].text, QString("&lt;a href=&quot;x&quot;&gt;step&lt;/a&gt;"));
    desktop.capabilities = {"body"};
    DesktopNotes plain;
    plain.show({7, "a", "1 < 2", Tone::warn});
    QTRY_COMPARE(desktop.shown.size(), size_t{2});
    QCOMPARE(desktop.shown[1].text, QString("1 < 2"));
  }

  void aClickOpensItsRun() {
    test::Desktop desktop(bus_);
    DesktopNotes notes;
    QSignalSpy opened(&notes, &DesktopNotes::opened);
    notes.show({7, "a", "1", Tone::warn});
    notes.show({8, "b", "2", Tone::warn});
    QTRY_COMPARE(desktop.shown.size(), size_t{2});
    QTest::qWait(100);  // the ids arrive
    desktop.click(2);
    QTRY_COMPARE(opened.size(), 1);
    QCOMPARE(opened[0][0].toLongLong(), 8);
    desktop.close(2);
    desktop.click(2);
    desktop.click(1);
    QTRY_COMPARE(opened.size(), 2);
    QCOMPARE(opened[1][0].toLongLong(), 7);
    notes.withdraw();
    QTRY_COMPARE(desktop.withdrawn, QList<uint>{1});
  }

  void withoutAServiceItFailsAndTheNextIsShown() {
    DesktopNotes notes;
    QSignalSpy failed(&notes, &DesktopNotes::failed);
    notes.show({7, "a", "1", Tone::warn});
    QTRY_COMPARE(failed.size(), 1);
    QCOMPARE(failed[0][0].value<DesktopNote>().run, 7);
    test::Desktop desktop(bus_);
    notes.show({8, "b", "2", Tone::warn});
    QTRY_COMPARE(desktop.shown.size(), size_t{1});
    QCOMPARE(failed.size(), 1);
  }

 private:
  test::SessionBus bus_;
};

HEDDLE_WIDGET_TEST(DesktopNotesTest)
#include "desktop_notes_test.moc"
