// A store that was not made here is only read, and the window says so for as long as that holds.
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "storage/queries.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/support/results.h"

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

  /// What is trusted is known in the home of whoever opens it.
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

QTEST_MAIN(ReadOnlyTest)
#include "read_only_test.moc"
