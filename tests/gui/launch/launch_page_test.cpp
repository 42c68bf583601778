// The Launch page as a person uses it: a recipe with a fault, a host that does not answer, and a
// run of real processes on this machine.
#include "gui/views/launch/launch_page.h"

#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "storage/store.h"
#include "tests/support/results.h"
#include "workbench/control.h"
#include "workbench/targets.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

struct Shown {
  Shown() : path(folder.filePath("heddle.sqlite").toStdString()) {
    // Runs of this machine go below the home.
    qputenv("HOME", folder.path().toUtf8());
    must(storage::prepare(path));
    write("corpus.txt", "To be, or not to be.\n");
    write("tokenizer.json", "{}\n");
    session = std::make_unique<Session>(QString::fromStdString(path));
    page = std::make_unique<LaunchPage>(*session);
    page->setEngine(std::string(HEDDLE_BINARY_DIR) + "/rank_engine");
    page->resize(1300, 800);
    QObject::connect(session.get(), &Session::runRequested, page.get(),
                     [this](const QString& where, qint64 run) { asked = where, launched = run; });
    QObject::connect(session.get(), &Session::message, page.get(),
                     [this](const QString& text) { messages << text; });
  }
  void show() {
    page->show();
    page->activated();
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  void write(const QString& name, const QByteArray& text) {
    QFile out(folder.filePath(name));
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(text);
  }
  /// rank_engine takes training.seed as milliseconds a step.
  void showRecipe(const QByteArray& training) {
    page->showRecipe(
        "debug",
        "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 32\n" +
            training + "[hardware]\nranks = 2\n",
        folder.filePath("debug.toml"));
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  QPushButton* launchButton() const { return page->findChild<QPushButton*>("launchButton"); }
  QString stepsText() const {
    QStringList texts;
    for (const QLabel* text : page->findChild<StepsView*>()->findChildren<QLabel*>()) {
      texts << text->text();
    }
    return texts.join('\n');
  }

  QTemporaryDir folder;
  std::string path;
  QString asked;
  qint64 launched = 0;
  QStringList messages;
  std::unique_ptr<Session> session;
  std::unique_ptr<LaunchPage> page;
};

}  // namespace

class LaunchPageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void a_fault_is_shown_where_it_is_and_nothing_can_be_launched() {
    Shown shown;
    shown.show();
    QVERIFY(shown.launchButton()->isEnabled());  // the first sample recipe
    shown.showRecipe("[training]\nstep = 5\n");
    auto* faults = shown.page->findChild<QLabel*>("faults");
    QTRY_VERIFY_WITH_TIMEOUT(faults->isVisible(), 20000);
    QVERIFY2(faults->text().contains("debug.toml:9:1: training.step"), qPrintable(faults->text()));
    QVERIFY(!shown.launchButton()->isEnabled());
  }

  void more_ranks_are_checked_at_once() {
    Shown shown;
    shown.show();
    shown.showRecipe("[training]\nsteps = 5\n[parallelism]\ndp_shard = 2\n");
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    shown.page->findChild<QSpinBox*>("ranks")->setValue(3);
    QTRY_VERIFY_WITH_TIMEOUT(!shown.launchButton()->isEnabled(), 20000);
  }

  void a_launch_on_this_machine_leads_to_live() {
    Shown shown;
    shown.show();
    shown.showRecipe("[training]\nsteps = 30\nseed = 5\n");
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    shown.page->findChild<QLineEdit*>("runName")->setText("from-the-page");
    QTest::mouseClick(shown.launchButton(), Qt::LeftButton);
    QVERIFY(!shown.launchButton()->isEnabled());  // one at a time
    QTRY_VERIFY2_WITH_TIMEOUT(!shown.asked.isEmpty(), qPrintable(shown.stepsText()), 60000);
    QCOMPARE(shown.asked, QString("live"));
    auto reader = must(storage::Reader::open(shown.path));
    QTRY_COMPARE_WITH_TIMEOUT(must(reader.run(shown.launched)).summary.state,
                              storage::RunState::done, 60000);
    const auto run = must(reader.run(shown.launched));
    QCOMPARE(run.summary.name, std::string("from-the-page"));
    QCOMPARE(run.ranks.size(), 2u);
    shown.page->activated();
    auto* recent = shown.page->findChild<RecentLaunches*>();
    QTRY_COMPARE_WITH_TIMEOUT(recent->rowCount(), 1, 20000);
    QCOMPARE(recent->item(0, 0)->text(), QString("from-the-page"));
  }

  void a_host_that_does_not_answer_is_named_and_the_attempt_is_kept() {
    Shown shown;
    {
      auto writer = must(storage::Writer::open(shown.path));
      workbench::SavedTarget away;
      away.target.name = "away";
      away.target.hosts = {must(remote::parse_host("nobody@127.0.0.1:1"))};
      away.target.hosts[0].name = "away";
      must(workbench::save_target(*writer, away));
    }
    shown.show();
    shown.showRecipe("[training]\nsteps = 5\n");
    shown.page->findChild<TargetList*>()->choose("away");
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    QTest::mouseClick(shown.launchButton(), Qt::LeftButton);
    QTRY_VERIFY2_WITH_TIMEOUT(shown.stepsText().contains("127.0.0.1"),
                              qPrintable(shown.stepsText()), 60000);
    auto* recent = shown.page->findChild<RecentLaunches*>();
    QTRY_COMPARE_WITH_TIMEOUT(recent->rowCount(), 1, 20000);
    QCOMPARE(recent->item(0, 1)->text(), QString("failed"));
    QVERIFY(recent->item(0, 4)->toolTip().contains("127.0.0.1"));
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
  }
};

QTEST_MAIN(LaunchPageTest)
#include "launch_page_test.moc"
