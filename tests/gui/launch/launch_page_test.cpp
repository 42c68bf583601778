// The Launch page as a person uses it: a recipe with a fault, what a target lacks, a host that does
// not answer, and a run of real processes on this machine.
#include "gui/views/launch/launch_page.h"

#include <QDir>
#include <QFile>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "storage/store.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
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
    qputenv("HEDDLE_ENGINE", HEDDLE_BINARY_DIR "/alone/rank_engine");
    page->resize(1300, 800);
    QObject::connect(session.get(), &Session::runRequested, page.get(),
                     [this](const QString& where, qint64 run) { asked = where, launched = run; });
    QObject::connect(session.get(), &Session::message, page.get(),
                     [this](const QString& text) { messages << text; });
  }
  void show() {
    page->show();
    page->activateWindow();
    page->activated();
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  void write(const QString& name, const QByteArray& text) {
    QFile out(folder.filePath(name));
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(text);
  }
  /// rank_engine takes training.seed as milliseconds a step.
  void showRecipe(const QByteArray& training, const QByteArray& hardware = "") {
    page->showRecipe(
        "debug",
        "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 32\n" +
            training + "[hardware]\nranks = 2\n" + hardware,
        folder.filePath("debug.toml"));
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  QPushButton* launchButton() const { return page->findChild<QPushButton*>("launchButton"); }
  QString stepsText() const { return textOf(page->findChild<StepsView*>()); }
  QString findingsText() const { return textOf(page->findChild<FindingsView*>()); }
  /// The visible text.
  static QString textOf(const QWidget* widget) {
    QStringList texts;
    for (const QLabel* text : widget->findChildren<QLabel*>()) {
      if (!text->isVisible()) continue;
      const auto* elided = qobject_cast<const ElidedLabel*>(text);
      texts << (elided ? elided->fullText() : text->text());
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
    // Nobody has saved that text: no file has such a line.
    QVERIFY2(faults->text().startsWith("debug.toml, unsaved:9:1: training.step"),
             qPrintable(faults->text()));
    QVERIFY(!shown.launchButton()->isEnabled());
    QVERIFY2(shown.launchButton()->toolTip().startsWith("training.step: unknown key"),
             qPrintable(shown.launchButton()->toolTip()));
    // Compose is asked for the place.
    QSignalSpy places(shown.session.get(), &Session::placeRequested);
    for (auto* button : shown.page->findChildren<QPushButton*>())
      if (button->isVisible() && button->text() == "Fix in Compose") button->click();
    QCOMPARE(places.count(), 1);
    QCOMPARE(places[0], (QVariantList{9, 1}));
    // Saved, the file has it.
    shown.write("debug.toml", shown.page->findChild<QPlainTextEdit*>()->toPlainText().toUtf8());
    shown.page->activated();
    shown.showRecipe("[training]\nstep = 5\n");
    QTRY_VERIFY2_WITH_TIMEOUT(faults->text().contains("/debug.toml:9:1: training.step"),
                              qPrintable(faults->text()), 20000);
  }

  void the_summary_says_all_that_differs_from_defaults() {
    Shown shown;
    shown.show();
    shown.showRecipe(
        "[training]\nmax_norm = 0.5\n"
        "[precision]\nparam = \"bf16\"\nfloat8 = \"tensorwise\"\n"
        "[recompute]\nmode = \"selective\"\n"
        "[[override]]\nmodules = [\"layers.0-2\"]\nrecompute = \"full\"\n"
        "[[override]]\nmodules = [\"norms\"]\nweight_decay = 0.0\n");
    const QString said = Shown::textOf(shown.page.get());
    for (const char* part :
         {"recompute selective", "bf16, linear layers in 8 bits (tensorwise)",
          "recompute full in layers.0-2", "weight decay 0 in norms", "training.max_norm 0.5"})
      QVERIFY2(said.contains(part), qPrintable(said));
    QVERIFY(!said.contains("checkpoint.keep"));
  }

  void recent_launches_are_launches_by_time() {
    Shown shown;
    auto writer = must(storage::Writer::open(shown.path));
    const auto make = [&](const char* name, const char* target, double created) {
      storage::NewRun run;
      run.name = name;
      run.target = target;
      run.created = created;
      must(writer->create_run(run).get());
    };
    make("older", "this-machine", 1000);
    make("oldest", "this-machine", 500);
    make("theirs", "imported", 2000);
    make("newest", "this-machine", 3000);
    shown.show();
    const auto* table = shown.page->findChild<RecentLaunches*>();
    QStringList names;
    for (int row = 0; row < table->rowCount(); ++row) names << table->item(row, 0)->text();
    QCOMPARE(names, (QStringList{"newest", "older", "oldest"}));
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

  void a_host_that_does_not_answer_is_named_and_nothing_is_begun() {
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
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    shown.page->findChild<TargetList*>()->choose("away");
    QVERIFY(!shown.launchButton()->isEnabled());  // what was found was found elsewhere
    QTRY_VERIFY2_WITH_TIMEOUT(shown.findingsText().contains("127.0.0.1"),
                              qPrintable(shown.findingsText()), 60000);
    QVERIFY(!shown.launchButton()->isEnabled());
    const QString why = "It cannot start on away: no connection to 127.0.0.1 port 1: ";
    QVERIFY2(shown.launchButton()->toolTip().startsWith(why),
             qPrintable(shown.launchButton()->toolTip()));
    QVERIFY2(shown.stepsText().contains(why), qPrintable(shown.stepsText()));
    // And its row says so too.
    auto* row = shown.page->findChild<QAbstractButton*>("target-away");
    QTRY_VERIFY2(row->accessibleName().contains("not reached"), qPrintable(row->accessibleName()));
    QCOMPARE(shown.page->findChild<RecentLaunches*>()->rowCount(), 0);
    shown.page->findChild<TargetList*>()->choose("this-machine");
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
  }

  // As Targets and Runs show it: a run there goes on, and its connection is cut.
  void a_lost_connection_is_no_green_dot() {
    Shown shown;
    auto writer = must(storage::Writer::open(shown.path));
    workbench::SavedTarget away;
    away.target.name = "away";
    away.target.hosts = {must(remote::parse_host("nobody@127.0.0.1:2222"))};
    away.target.hosts[0].name = "away";
    away.probe.emplace();
    away.probe->checks = {{"kernel", probe::Status::pass, "6.1", ""}};
    must(workbench::save_target(*writer, away));
    storage::NewRun wanted;
    wanted.name = "remote";
    wanted.target = "away";
    const storage::RunId run = must(writer->create_run(wanted).get()).id;
    must(writer->set_state(run, storage::RunState::running).get());
    must(writer
             ->set_link(run, {.heard = unixNow() - 79,
                              .lost = unixNow() - 60,
                              .next_try = unixNow() + 6,
                              .reason = "no answer"})
             .get());
    shown.show();
    auto* recent = shown.page->findChild<RecentLaunches*>();
    QTRY_COMPARE_WITH_TIMEOUT(recent->rowCount(), 1, 20000);
    QTRY_VERIFY(recent->item(0, 1)->toolTip() != "running");
    QVERIFY(recent->item(0, 1)->foreground().color() != colorOf(Tone::good));
    auto* row = shown.page->findChild<QAbstractButton*>("target-away");
    QVERIFY(row);
    QVERIFY2(row->accessibleName().contains("connection lost"), qPrintable(row->accessibleName()));
    QVERIFY2(row->toolTip().contains("no answer"), qPrintable(row->toolTip()));
    const QColor dot = row->grab().toImage().pixelColor(row->width() - 18, 18);
    QVERIFY2(dot == colorOf(Tone::bad), qPrintable(dot.name()));
  }

  void what_the_target_lacks_is_said_before_the_launch() {
    Shown shown;
    shown.show();
    shown.showRecipe("[training]\nsteps = 5\n", "device = \"cuda\"\n");
    QTRY_VERIFY2_WITH_TIMEOUT(shown.findingsText().contains("2 ranks on 0 GPUs"),
                              qPrintable(shown.findingsText()), 20000);
    QVERIFY(!shown.launchButton()->isEnabled());
    QVERIFY2(shown.stepsText().contains("It cannot start on this-machine: GPUs"),
             qPrintable(shown.stepsText()));
    QVERIFY(!shown.page->pageActions().first()->isEnabled());
    // Data that is not there, too.
    QVERIFY(QFile::remove(shown.folder.filePath("corpus.txt")));
    shown.showRecipe("[training]\nsteps = 5\n");
    QTRY_VERIFY2_WITH_TIMEOUT(shown.findingsText().contains("there is no "),
                              qPrintable(shown.findingsText()), 20000);
    QVERIFY(!shown.findingsText().contains("GPUs"));
    QVERIFY(!shown.launchButton()->isEnabled());
  }

  void the_last_launch_is_forgotten_with_its_recipe() {
    Shown shown;
    shown.show();
    qputenv("HEDDLE_ENGINE", "/nowhere/engine");
    shown.showRecipe("[training]\nsteps = 5\n");
    QTRY_VERIFY_WITH_TIMEOUT(shown.launchButton()->isEnabled(), 20000);
    QTest::mouseClick(shown.launchButton(), Qt::LeftButton);
    QTRY_VERIFY2_WITH_TIMEOUT(shown.stepsText().contains("/nowhere/engine"),
                              qPrintable(shown.stepsText()), 60000);
    shown.showRecipe("[training]\nstep = 5\n");
    QTRY_VERIFY2_WITH_TIMEOUT(shown.stepsText().contains("training.step: unknown"),
                              qPrintable(shown.stepsText()), 20000);
    QVERIFY2(!shown.stepsText().contains("/nowhere/engine"), qPrintable(shown.stepsText()));
    QVERIFY2(!shown.stepsText().contains("this-machine"), qPrintable(shown.stepsText()));
  }

  void a_checkpoint_may_name_the_model() {
    const RecipeCheck check = checkRecipe(
        {"tiny",
         "[model]\ncheckpoint = \"" HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny\"\n"
         "[data]\ntext = [\"c4/\"]\ntokenizer = \"t.json\"\nseq_len = 32\n",
         "/home/ada/tiny.toml"},
        2, {}, {});
    QVERIFY2(check.faults.empty(), check.faults.empty() ? "" : check.faults[0].str().c_str());
    QCOMPARE(check.facts[0].second.left(16), QString("2 layers, dim 64"));
    // A folder's name does not end with its slash.
    QCOMPARE(check.facts[1].second, QString("c4/, sequence 32"));
  }

  void a_folder_that_holds_checkpoints_is_no_new_runs() {
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath("saved/step-3"));
    QFile sample(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml");
    QVERIFY(sample.open(QFile::ReadOnly));
    const RecipeChoice choice{
        "debug", QString::fromUtf8(sample.readAll()) + "\n[checkpoint]\nfolder = \"saved\"\n",
        folder.filePath("debug.toml")};
    workbench::TargetNow here;
    here.target = remote::this_machine();
    const auto faults = [&](const RecipeChoice& recipe) {
      return checkRecipe(recipe, 2, here, folder.filePath("heddle.sqlite")).faults;
    };
    QCOMPARE(faults(choice).size(), size_t(1));
    QCOMPARE(faults(choice)[0].key, std::string("checkpoint.folder"));
    QVERIFY(faults(choice)[0].what.find("the newest step-3") != std::string::npos);
    // Once it has another folder nothing speaks against it.
    RecipeChoice other = choice;
    other.toml.replace("\"saved\"", "\"new\"");
    QVERIFY(faults(other).empty());
  }

  void every_recipe_has_a_name() {
    QCOMPARE(runName({"8b", "", "/home/ada/8b-layers.toml"}), QString("8b-layers"));
    QCOMPARE(fileName({"8b", "", "/home/ada/8b-layers.toml"}), QString("8b-layers.toml"));
    QCOMPARE(runName({"", "", "/home/ada/.toml"}), QString("toml"));
    QCOMPARE(fileName({"", "", "/home/ada/.toml"}), QString(".toml"));
    QCOMPARE(runName({"", "", ""}), QString("run"));
    QCOMPARE(fileName({"", "", ""}), QString("recipe"));
  }

  void symbols_follow_the_theme() {
    FindingsView view;
    view.setFindings({{"disk", probe::Status::pass, "12 GiB free"}});
    view.resize(300, 60);
    view.show();
    const auto drawn = [&] { return view.findChild<Symbol*>()->grab().toImage(); };
    const auto has = [](const QImage& image, const QColor& color) {
      for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
          if (const QColor at = image.pixelColor(x, y); std::abs(at.red() - color.red()) +
                                                            std::abs(at.green() - color.green()) +
                                                            std::abs(at.blue() - color.blue()) <
                                                        40)
            return true;
      return false;
    };
    const QColor dark = colorOf(Tone::good);
    QVERIFY(has(drawn(), dark));
    Theme::instance().setMode(Theme::Mode::light);
    const auto back = qScopeGuard([] { Theme::instance().setMode(Theme::Mode::dark); });
    QVERIFY(colorOf(Tone::good) != dark);
    QVERIFY(has(drawn(), colorOf(Tone::good)));
  }

  void the_focus_goes_to_launch_once_it_may_be_pressed() {
    Shown shown;
    shown.show();
    shown.page->hide();
    shown.page->show();
    shown.showRecipe("[training]\nsteps = 5\n");
    QTRY_COMPARE_WITH_TIMEOUT(shown.page->focusWidget(),
                              static_cast<QWidget*>(shown.launchButton()), 20000);
  }
};

HEDDLE_WIDGET_TEST(LaunchPageTest)
#include "launch_page_test.moc"
