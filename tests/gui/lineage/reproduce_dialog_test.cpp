// Launching a run again as it was, in the window: what the dialog says before, and what comes of
// it.
#include "gui/views/lineage/reproduce_dialog.h"

#include "gui/theme/theme.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"

using namespace heddle;
using namespace heddle::gui;
using workbench::RunFixture;

class ReproduceDialogTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Session> session_;
  storage::RunId run_ = 0;
  qint64 opened_ = 0;

  /// All that the dialog says, once it may be launched.
  static QString said(const ReproduceDialog& dialog) {
    const auto* start = dialog.findChild<QPushButton*>("start");
    if (!QTest::qWaitFor([&] { return start->isEnabled(); }, 20000)) return {};
    QStringList texts;
    for (const QLabel* text : dialog.findChildren<QLabel*>()) texts << text->text();
    return texts.join('\n');
  }

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    {
      const auto writer = must(storage::Writer::open(fixture_->store));
      const auto run = workbench::launch(*writer, fixture_->request(5));
      if (!run) qFatal("%s", run.error().message.c_str());
      run_ = run->id;
    }
    session_ = std::make_unique<Session>(QString::fromStdString(fixture_->store));
    session_->start();
    opened_ = 0;
    connect(session_.get(), &Session::runRequested, this,
            [this](const QString&, qint64 run) { opened_ = run; });
    QVERIFY(fixture_->ends(run_));
  }
  void cleanup() {
    session_.reset();
    fixture_.reset();
  }

  void what_is_as_it_was_is_launched_by_enter() {
    ReproduceDialog dialog(*session_, run_, nullptr);
    dialog.show();
    const QString text = said(dialog);
    QVERIFY2(text.contains("All that the run recorded is as it was."), qPrintable(text));
    QVERIFY2(text.contains("engine build "), qPrintable(text));
    QTest::keyClick(&dialog, Qt::Key_Return);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 20000));
    QVERIFY(fixture_->ends(opened_));
    QCOMPARE(fixture_->detail(opened_).summary.name, std::string("debug again"));
    QCOMPARE(fixture_->detail(opened_).recipe, fixture_->detail(run_).recipe);
  }

  void what_is_not_as_it_was_is_said_first() {
    std::ofstream(fixture_->path("corpus.txt")) << "To be, or not to be!\n";
    ReproduceDialog dialog(*session_, run_, nullptr);
    dialog.show();
    const QString text = said(dialog);
    QVERIFY2(text.contains("Not all is as it was"), qPrintable(text));
    QVERIFY2(text.contains("data: it was "), qPrintable(text));
  }
};

HEDDLE_WIDGET_TEST(ReproduceDialogTest)
#include "reproduce_dialog_test.moc"
