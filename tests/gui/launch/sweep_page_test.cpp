// Sweeps and the queue on the Launch page, by keyboard: keys and values chosen, launched,
// reordered, taken out.
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/views/launch/launch_page.h"
#include "storage/store.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/place.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

template <typename Widget>
Widget* called(const QWidget* in, const QString& name) {
  for (Widget* widget : in->findChildren<Widget*>())
    if (widget->accessibleName() == name) return widget;
  return nullptr;
}

struct PageShown {
  PageShown() : path(folder.filePath("heddle.sqlite").toStdString()) {
    qputenv("HOME", folder.path().toUtf8());
    must(storage::prepare(path));
    write("corpus.txt", "To be, or not to be.\n");
    write("tokenizer.json", "{}\n");
    session = std::make_unique<Session>(QString::fromStdString(path));
    page = std::make_unique<LaunchPage>(*session);
    qputenv("HEDDLE_ENGINE", HEDDLE_BINARY_DIR "/alone/rank_engine");
    page->resize(1300, 800);
    QObject::connect(session.get(), &Session::message, page.get(),
                     [this](const QString& text) { messages << text; });
    QObject::connect(session.get(), &Session::storeChanged, page.get(),
                     [this] { page->activated(); });
  }
  void write(const QString& name, const QByteArray& text) const {
    QFile out(folder.filePath(name));
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(text);
  }
  void show() const {
    page->show();
    page->activateWindow();
    page->activated();
    page->showRecipe("debug",
                     "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
                     "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n"
                     "seq_len = 32\n[training]\nsteps = 10\nseed = 5\n[hardware]\nranks = 2\n",
                     folder.filePath("debug.toml"));
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  QPushButton* launchButton() const { return page->findChild<QPushButton*>("launchButton"); }
  SweepDialog* openSweep() const {
    auto* button = page->findChild<QPushButton*>("sweep");
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    return page->findChild<SweepDialog*>();
  }

  QTemporaryDir folder;
  std::string path;
  QStringList messages;
  std::unique_ptr<Session> session;
  std::unique_ptr<LaunchPage> page;
};

}  // namespace

class SweepPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void a_sweep_is_chosen_and_launched_by_keyboard() {
    PageShown shown;
    shown.show();
    SweepDialog* dialog = shown.openSweep();
    QVERIFY(dialog);
    auto* key = called<QLineEdit>(dialog, "Key 1");
    auto* values = called<QLineEdit>(dialog, "Values of key 1");
    QVERIFY(key && values);
    QTest::keyClicks(key, "optimizer.lr");
    QTest::keyClick(key, Qt::Key_Tab);
    QTest::keyClicks(values, "1e-4, 3e-4");
    auto* summary = dialog->findChild<QLabel*>("summary");
    QTRY_VERIFY2(summary->text().startsWith("2 runs"), qPrintable(summary->text()));
    QCOMPARE(dialog->findChild<QLabel*>("names")->text(), QString("lr=1e-4\nlr=3e-4"));
    QTest::keyClick(values, Qt::Key_Return);
    QTRY_COMPARE(shown.launchButton()->text(), QString("Launch 2 runs"));
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    QTest::keyClick(shown.launchButton(), Qt::Key_Space);
    auto reader = must(storage::Reader::open(shown.path));
    QTRY_COMPARE_WITH_TIMEOUT(must(reader.runs()).size(), size_t(2), 60000);
    QTRY_VERIFY_WITH_TIMEOUT(
        std::ranges::all_of(must(reader.runs()),
                            [](const auto& run) { return run.state == storage::RunState::done; }),
        60000);
    for (const storage::RunSummary& run : must(reader.runs())) {
      QCOMPARE(run.group, std::string("debug"));
      QVERIFY2(run.name == "debug lr=1e-4" || run.name == "debug lr=3e-4", run.name.c_str());
    }
    QVERIFY(shown.messages.contains("In the queue: 2 runs"));
  }

  void each_knob_says_what_it_does() {
    PageShown shown;
    shown.show();
    SweepDialog* dialog = shown.openSweep();
    QVERIFY(dialog);
    QStringList silent;
    for (const QWidget* form : {shown.page->findChild<QWidget*>("runName")->parentWidget(),
                                static_cast<QWidget*>(dialog)})
      for (const QWidget* knob : form->findChildren<QWidget*>()) {
        const auto* around = knob->parentWidget();
        const bool part =
            qobject_cast<const QAbstractSpinBox*>(around) || qobject_cast<const QComboBox*>(around);
        const bool takes =
            qobject_cast<const QLineEdit*>(knob) || qobject_cast<const QAbstractSpinBox*>(knob) ||
            qobject_cast<const QComboBox*>(knob) || qobject_cast<const QCheckBox*>(knob);
        if (takes && !part && knob->toolTip().size() < 12)
          silent << knob->objectName() + knob->accessibleName();
      }
    QCOMPARE(silent, QStringList());
    QTest::keyClick(dialog, Qt::Key_Escape);
  }

  void values_that_cannot_be_are_explained() {
    PageShown shown;
    shown.show();
    SweepDialog* dialog = shown.openSweep();
    auto* use = dialog->findChild<QPushButton*>("use");
    auto* error = dialog->findChild<QLabel*>("error");
    QVERIFY(!use->isEnabled());
    QVERIFY(!error->isVisible());  // nothing is wrong yet
    auto* key = called<QLineEdit>(dialog, "Key 1");
    auto* values = called<QLineEdit>(dialog, "Values of key 1");
    QTest::keyClicks(key, "optimizer.lrr");
    QTest::keyClicks(values, "1, 2");
    QTRY_VERIFY2(error->text().contains("did you mean optimizer.lr"), qPrintable(error->text()));
    key->setText("lr");
    values->setText("log(1e-5..1e-3)");
    QTRY_VERIFY2(error->text().contains("a range is for random picks"), qPrintable(error->text()));
    QVERIFY(!use->isEnabled());
    auto* how = called<Segment>(dialog, "How values become runs");
    how->setCurrent(1);
    called<QSpinBox>(dialog, "Random picks")->setValue(4);
    QTRY_VERIFY2(use->isEnabled(), qPrintable(error->text()));
    for (auto* box : dialog->findChildren<QCheckBox*>())
      if (box->text().startsWith("Stop the worst half")) box->setChecked(true);
    auto* rungs = dialog->findChild<QLabel*>("rungs");
    QTRY_COMPARE(rungs->text(),
                 QString("after step 2 the best 2 go on, after step 5 the best 1, by loss"));
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!shown.page->findChild<SweepDialog*>());
    QCOMPARE(shown.launchButton()->text(), QString("Launch"));
  }

  void the_queue_is_reordered_and_runs_are_taken_out_by_keyboard() {
    PageShown shown;
    {
      const auto writer = must(storage::Writer::open(shown.path));
      remote::Target away;
      away.name = "away";
      away.hosts = {must(remote::parse_host("nobody@127.0.0.1:1"))};
      away.hosts[0].name = "away";
      std::vector<storage::NewRun> runs;
      for (const char* name : {"a", "b", "c"}) {
        storage::NewRun run;
        run.name = name;
        run.target = "away";
        run.recipe_name = "debug";
        run.recipe = "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n[data]\ntext = [\"" +
                     shown.folder.filePath("corpus.txt").toStdString() + "\"]\ntokenizer = \"" +
                     shown.folder.filePath("tokenizer.json").toStdString() + "\"\n";
        run.hosts = workbench::to_json(workbench::place_on(away));
        run.waiting = storage::Waiting{};
        runs.push_back(run);
      }
      must(writer->create_runs(runs).get());
    }
    shown.show();
    auto* queue = called<QueueView>(shown.page.get(), "Queue");
    QTRY_COMPARE_WITH_TIMEOUT(queue->count(), 3, 20000);
    QVERIFY(queue->isVisible());
    QCOMPARE(queue->item(1)->data(Qt::AccessibleTextRole).toString(), QString("b, behind a"));
    const auto names = [&] {
      auto reader = must(storage::Reader::open(shown.path));
      QStringList all;
      for (const storage::QueuedRun& run : must(reader.queue()))
        all << QString::fromStdString(run.name);
      return all;
    };
    queue->setFocus();
    queue->setCurrentRow(2);
    QTest::keyClick(queue, Qt::Key_Up, Qt::AltModifier);
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QStringList{"a", "c", "b"}), 20000);
    QTest::keyClick(queue, Qt::Key_Delete);
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QStringList{"a", "b"}), 20000);
    // The first could not begin, and says why.
    QTRY_VERIFY2_WITH_TIMEOUT(
        queue->count() == 2 &&
            queue->item(0)->data(Qt::AccessibleTextRole).toString().contains("no connection"),
        qPrintable(queue->item(0)->data(Qt::AccessibleTextRole).toString()), 30000);
  }

  void a_run_can_wait_until_the_target_is_free() {
    PageShown shown;
    shown.show();
    auto* wait = shown.page->findChild<QCheckBox*>("wait");
    wait->setFocus();
    QTest::keyClick(wait, Qt::Key_Space);
    QVERIFY(wait->isChecked());
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    QTest::keyClick(shown.launchButton(), Qt::Key_Space);
    auto reader = must(storage::Reader::open(shown.path));
    QTRY_VERIFY_WITH_TIMEOUT(!must(reader.runs()).empty(), 60000);
    QTRY_VERIFY_WITH_TIMEOUT(must(reader.runs())[0].state == storage::RunState::done, 60000);
    QVERIFY(shown.messages.contains("In the queue: 1 run"));
  }
};

HEDDLE_WIDGET_TEST(SweepPageTest)
#include "sweep_page_test.moc"
