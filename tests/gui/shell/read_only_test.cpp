// A store that was not made here is only read, and the window says so for as long as that holds.
#include <sys/mount.h>
#include <unistd.h>

#include <QDir>
#include <QScopeGuard>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "storage/queries.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class ReadOnlyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    home("theirs");
    const auto writer = must(storage::Writer::open(store()));
    storage::NewRun run;
    run.name = "theirs";
    run_ = must(writer->create_run(run)).id;
    must(writer->set_state(run_, storage::RunState::done, "", 1.0));
    home("ours");
    Theme::install(Theme::Mode::dark);
  }

  void in_a_read_only_place_it_is_shown() {
    if (geteuid() != 0) QSKIP("mounting needs root");
    const QString place = folder_.filePath("place");
    QVERIFY(QDir().mkpath(place));
    if (mount("tmpfs", place.toUtf8().constData(), "tmpfs", 0, "size=8m") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(place.toUtf8().constData(), MNT_DETACH); });
    QVERIFY(QFile::copy(QString::fromStdString(store()), place + "/copy.sqlite"));
    QCOMPARE(mount("tmpfs", place.toUtf8().constData(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=8m"),
             0);
    Session session(place + "/copy.sqlite");
    MainWindow window(session);
    window.resize(1280, 800);
    window.show();
    session.start();
    auto* link = window.findChild<QPushButton*>(QStringLiteral("readOnly"));
    QTRY_VERIFY(link->isVisible());
    // Nothing is offered: trust would change nothing.
    QTRY_VERIFY(window.findChild<QFrame*>(QStringLiteral("toast")));
    QVERIFY(!button(window));
    window.showPage(QStringLiteral("runs"));
    auto* table = window.currentPage()->findChild<QTableView*>();
    QVERIFY(table);
    QTRY_VERIFY(table->model()->rowCount() == 1);
  }

  void it_can_be_trusted_after_the_message_has_gone() {
    Session session(QString::fromStdString(store()));
    MainWindow window(session);
    window.resize(1280, 800);
    window.show();
    session.start();
    auto* link = window.findChild<QPushButton*>(QStringLiteral("readOnly"));
    QTRY_VERIFY(link->isVisible());
    QTRY_VERIFY(button(window));
    dismissToast(&window);
    QTRY_VERIFY(!button(window));

    session.keep(
        [&](workbench::Workbench& workbench) { return workbench.writer().trash(run_).get(); });
    QTRY_VERIFY(window.findChild<QFrame*>(QStringLiteral("toast")));  // why that cannot be
    QCOMPARE(runs(), size_t{1});

    QTest::mouseClick(link, Qt::LeftButton);
    QTRY_VERIFY(button(window));
    QTest::mouseClick(button(window), Qt::LeftButton);
    QTRY_VERIFY(!link->isVisible());
    QVERIFY(storage::is_trusted(store()));
    session.keep(
        [&](workbench::Workbench& workbench) { return workbench.writer().trash(run_).get(); });
    QTRY_COMPARE(runs(), size_t{0});
  }

 private:
  std::string store() const { return folder_.filePath("store.sqlite").toStdString(); }

  /// The home of the person who opens a store records trust.
  void home(const char* name) {
    for (const char* variable : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(variable, folder_.filePath(name).toUtf8());
  }

  size_t runs() const { return must(must(storage::Reader::open(store())).runs()).size(); }

  QPushButton* button(const MainWindow& window) const {
    for (auto* found : window.findChildren<QPushButton*>(QStringLiteral("toastAction")))
      if (found->isVisible()) return found;
    return nullptr;
  }

  QTemporaryDir folder_;
  storage::RunId run_ = 0;
};

HEDDLE_WIDGET_TEST(ReadOnlyTest)
#include "read_only_test.moc"
