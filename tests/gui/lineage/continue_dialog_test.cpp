// The dialogs of resume, fork, stop and kill over runs of real processes: what they say before, and
// what comes of it.
#include "gui/views/lineage/continue_dialog.h"

#include <QApplication>
#include <QScrollArea>
#include <QScrollBar>

#include "gui/models/fork_name.h"
#include "gui/theme/theme.h"
#include "gui/views/lineage/end_dialog.h"
#include "tests/support/geometry.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"

using namespace heddle;
using namespace heddle::gui;
using workbench::RunFixture;
namespace fs = std::filesystem;

class ContinueDialogTest : public QObject {
  Q_OBJECT

 private:
  using Kind = storage::Lineage::Kind;

  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Session> session_;
  storage::RunId parent_ = 0;
  qint64 opened_ = 0;

  std::unique_ptr<ContinueDialog> shown(Kind kind) {
    auto dialog = std::make_unique<ContinueDialog>(*session_, parent_, kind, nullptr);
    dialog->show();
    return dialog;
  }
  template <typename T>
  static T* part(QWidget& of, const char* name) {
    return of.findChild<T*>(QLatin1String(name));
  }
  /// Until what the dialog says has these words.
  static bool comes(const ContinueDialog& dialog, const QString& words) {
    return QTest::qWaitFor([&] { return dialog.isReady() && dialog.text().contains(words); },
                           20000);
  }
  storage::RunId ended(const workbench::LaunchRequest& request) {
    const auto writer = must(storage::Writer::open(fixture_->store));
    const auto run = workbench::launch(*writer, request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return run->id;
  }

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    // Made before the session: a new store would get the sample run.
    workbench::LaunchRequest request = fixture_->request(20);
    request.sets = {"checkpoint.every=5"};
    parent_ = ended(request);
    session_ = std::make_unique<Session>(QString::fromStdString(fixture_->store));
    session_->start();
    opened_ = 0;
    connect(session_.get(), &Session::runRequested, this,
            [this](const QString&, qint64 run) { opened_ = run; });
    QVERIFY(fixture_->ends(parent_));
  }
  void cleanup() {
    session_.reset();
    fixture_.reset();
  }

  void a_resume_says_what_will_happen_and_then_does_it() {
    const auto dialog = shown(Kind::resume);
    QVERIFY2(comes(*dialog, "debug after step 20, to step 40"), qPrintable(dialog->text()));
    QVERIFY(dialog->text().contains("this-machine"));
    QVERIFY(dialog->text().contains("/checkpoints/step-20"));
    QVERIFY(dialog->text().contains("40 instead of 20"));
    QVERIFY(!part<QPushButton>(*dialog, "editFirst")->isVisible());
    part<QPlainTextEdit>(*dialog, "changes")->setPlainText("optimizer.lr=1e-4");
    QVERIFY2(comes(*dialog, "1e-4 instead of 3e-4"), qPrintable(dialog->text()));
    QTest::mouseClick(part<QPushButton>(*dialog, "start"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 20000));
    QVERIFY(!dialog->isVisible());
    QVERIFY(fixture_->ends(opened_));
    const storage::RunSummary run = fixture_->detail(opened_).summary;
    QCOMPARE(run.steps, int64_t(40));
    QCOMPARE(run.lineage, std::optional(storage::Lineage{Kind::resume, parent_, "debug", 20}));
  }

  // "90" became 9020: only the first digit of the number that was there was replaced.
  void a_number_typed_at_once_is_the_whole_one() {
    const auto dialog = shown(Kind::resume);
    QVERIFY2(comes(*dialog, "debug after step 20, to step 40"), qPrintable(dialog->text()));
    QVERIFY(QTest::qWaitForWindowActive(dialog.get()));
    auto* steps = part<QSpinBox>(*dialog, "steps");
    QVERIFY(steps->hasFocus());
    QTest::keyClicks(steps, "30");
    QCOMPARE(steps->value(), 30);
    QVERIFY2(comes(*dialog, "to step 30"), qPrintable(dialog->text()));
  }

  void a_second_enter_does_not_cancel() {
    const auto dialog = shown(Kind::resume);
    QVERIFY2(comes(*dialog, "debug after step 20, to step 40"), qPrintable(dialog->text()));
    QVERIFY(QTest::qWaitForWindowActive(dialog.get()));
    part<QPushButton>(*dialog, "start")->setFocus();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 20000));
    QVERIFY(fixture_->ends(opened_));
  }

  void enter_starts_from_any_field() {
    for (const char* field : {"steps", "runName", "from"}) {
      const auto dialog = shown(Kind::fork);
      dialog->activateWindow();
      QVERIFY(QTest::qWaitForWindowActive(dialog.get()));
      auto* in = part<QWidget>(*dialog, field);
      in->setFocus();
      QTest::keyClick(in, Qt::Key_Return);  // while it is still looked at
      QVERIFY(dialog->isVisible() && opened_ == 0);
      QVERIFY(comes(*dialog, "debug after step 20"));
      QTest::keyClick(in, Qt::Key_Return);
      QVERIFY2(QTest::qWaitFor([&] { return opened_ > 0; }, 20000), field);
      QVERIFY(fixture_->ends(opened_));
      opened_ = 0;
    }
  }

  // A plan comes when the dialog is on screen already, and again with each change: nothing under
  // the pointer moves for it.
  void all_of_a_plan_is_seen_and_no_button_moves() {
    for (const Kind kind : {Kind::resume, Kind::fork}) {
      const auto dialog = shown(kind);
      const auto* start = part<QPushButton>(*dialog, "start");
      const auto* told = part<QScrollArea>(*dialog, "told");
      const auto place = [&] {
        return QRect(start->mapTo(dialog.get(), QPoint()), dialog->size());
      };
      QVERIFY(QTest::qWaitForWindowExposed(dialog.get()));
      const QRect before = place();
      QVERIFY(comes(*dialog, "/checkpoints/step-20"));
      QTRY_COMPARE(misplaced(*dialog), QStringList());
      QCOMPARE(told->verticalScrollBar()->maximum(), 0);
      QCOMPARE(place(), before);
      part<QPlainTextEdit>(*dialog, "changes")
          ->setPlainText("optimizer.lr=1e-4\nrecompute.mode=full\ncheckpoint.keep=9");
      QVERIFY2(comes(*dialog, "9 instead of"), qPrintable(dialog->text()));
      QTRY_COMPARE(misplaced(*dialog), QStringList());
      QCOMPARE(told->verticalScrollBar()->maximum(), 0);
      QCOMPARE(place(), before);
      part<QPlainTextEdit>(*dialog, "changes")->setPlainText("optimizer.lrr=1");
      QVERIFY(comes(*dialog, "lrr"));
      QTRY_COMPARE(misplaced(*dialog), QStringList());
      QCOMPARE(place(), before);
    }
  }

  void the_name_that_the_run_will_get_is_shown() {
    const auto dialog = shown(Kind::fork);
    QVERIFY(comes(*dialog, "debug after step 20"));
    QCOMPARE(part<QLineEdit>(*dialog, "runName")->placeholderText(), QString("debug@20"));
    QTest::mouseClick(part<QPushButton>(*dialog, "start"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 20000));
    QCOMPARE(fixture_->detail(opened_).summary.name, std::string("debug@20"));
    QVERIFY(fixture_->ends(opened_));
  }

  void what_speaks_against_it_is_said_and_nothing_starts() {
    const auto dialog = shown(Kind::resume);
    QVERIFY(comes(*dialog, "to step 40"));
    auto* start = part<QPushButton>(*dialog, "start");
    auto* changes = part<QPlainTextEdit>(*dialog, "changes");
    changes->setPlainText("model.n_layers=3");
    QVERIFY2(comes(*dialog, "its n_layers is 6, the recipe's 3"), qPrintable(dialog->text()));
    QVERIFY(!start->isEnabled());
    changes->setPlainText("optimizer.lrr=1");
    QVERIFY2(comes(*dialog, "change: optimizer.lrr: "), qPrintable(dialog->text()));
    QVERIFY2(!dialog->text().contains("--set"), qPrintable(dialog->text()));
    changes->setPlainText("optimizer.lr");
    QVERIFY2(comes(*dialog, "change: optimizer.lr: "), qPrintable(dialog->text()));
    QVERIFY2(!dialog->text().contains("--set"), qPrintable(dialog->text()));
    changes->clear();
    part<QSpinBox>(*dialog, "steps")->setValue(20);
    QVERIFY2(comes(*dialog, "has trained 20 steps"), qPrintable(dialog->text()));
    QVERIFY2(dialog->text().contains("for instance change training.steps=40"),
             qPrintable(dialog->text()));
    part<QSpinBox>(*dialog, "steps")->setValue(21);
    QVERIFY(comes(*dialog, "to step 21"));
    QVERIFY(start->isEnabled());
    std::filesystem::remove_all(fixture_->detail(parent_).run_dir);
    const auto late = shown(Kind::fork);
    QVERIFY2(comes(*late, "the run directory of debug is gone"), qPrintable(late->text()));
    QVERIFY(!part<QPushButton>(*late, "start")->isEnabled());
  }

  void a_fork_begins_with_the_chosen_step() {
    const auto dialog = shown(Kind::fork);
    QVERIFY(comes(*dialog, "debug after step 20"));
    auto* from = part<QComboBox>(*dialog, "from");
    QCOMPARE(from->count(), 3);
    from->setCurrentIndex(from->findData("step-10"));
    part<QLineEdit>(*dialog, "runName")->setText("branch");
    QVERIFY2(comes(*dialog, "debug after step 10"), qPrintable(dialog->text()));
    QTest::mouseClick(part<QPushButton>(*dialog, "start"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 20000));
    QVERIFY(fixture_->ends(opened_));
    const storage::RunSummary run = fixture_->detail(opened_).summary;
    QCOMPARE(run.name, std::string("branch"));
    QCOMPARE(run.lineage, std::optional(storage::Lineage{Kind::fork, parent_, "debug", 10}));
  }

  void a_fork_may_be_edited_first() {
    QString page, name, toml, file;
    connect(session_.get(), &Session::recipeRequested, this,
            [&](const QString& p, const QString& n, const QString& t, const QString& f) {
              page = p, name = n, toml = t, file = f;
            });
    const auto dialog = shown(Kind::fork);
    QVERIFY(comes(*dialog, "debug after step 20"));
    part<QComboBox>(*dialog, "from")->setCurrentIndex(1);
    part<QPlainTextEdit>(*dialog, "changes")->setPlainText("recompute.mode=full");
    QTest::mouseClick(part<QPushButton>(*dialog, "editFirst"), Qt::LeftButton);
    QCOMPARE(page, QString("compose"));
    QVERIFY2(toml.contains("mode = \"full\""), qPrintable(toml));
    const auto fork = forkOf(name, file);
    QVERIFY(fork);
    QCOMPARE(fork->run, QString("debug"));
    QCOMPARE(fork->checkpoint, QString("15"));
    QVERIFY(!forkOf(name, "/home/a/recipe.toml"));
    QVERIFY(!forkOf("debug", ""));
  }

  void a_recipe_as_a_new_one_has_no_folder_of_checkpoints() {
    QStringList messages;
    QString toml, name;
    connect(session_.get(), &Session::message, this,
            [&](const QString& text) { messages << text; });
    connect(session_.get(), &Session::recipeRequested, this,
            [&](const QString&, const QString& n, const QString& t) { toml = t, name = n; });
    storage::RunDetail run = fixture_->detail(parent_);
    session_->editAsNew(run);
    QCOMPARE(messages, QStringList());
    run.recipe = "[checkpoint]\nfolder = \"/srv/c4\"\nkeep = 2\n";
    run.summary.name = "debug@20";
    session_->editAsNew(run);
    QVERIFY2(!toml.contains("c4") && toml.contains("keep = 2"), qPrintable(toml));
    QCOMPARE(messages.size(), 1);
    QVERIFY(messages[0].contains("checkpoint.folder was emptied"));
    QVERIFY(!forkOf(name, ""));
  }

  void kill_and_stop_say_what_is_lost() {
    EndDialog kill(*session_, fixture_->detail(parent_), EndDialog::How::kill, nullptr);
    kill.setAttribute(Qt::WA_DeleteOnClose, false);
    QVERIFY(QTest::qWaitFor([&] { return kill.text().contains("since step 20"); }, 20000));
    bool confirmed = false;
    connect(&kill, &EndDialog::confirmed, this, [&] { confirmed = true; });
    kill.show();
    QTest::keyClick(&kill, Qt::Key_Escape);
    QVERIFY(!confirmed && !kill.isVisible());
    storage::RunDetail bare = fixture_->detail(parent_);
    bare.recipe = "[checkpoint]\nenabled = false\n";
    EndDialog stop(*session_, bare, EndDialog::How::stop, nullptr);
    stop.setAttribute(Qt::WA_DeleteOnClose, false);
    QVERIFY2(stop.text().contains("all 20 steps of training are lost"), qPrintable(stop.text()));
    connect(&stop, &EndDialog::confirmed, this, [&] { confirmed = true; });
    stop.show();
    QTest::mouseClick(part<QPushButton>(stop, "end"), Qt::LeftButton);
    QVERIFY(confirmed);
  }

  void a_lost_run_goes_on_without_its_lost_host() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const std::string shared = fixture_->path("shared");
    fs::create_directories(shared);
    const auto first = must(test::Sshd::start({.own_network = true, .shared = shared}));
    const auto second = must(test::Sshd::start({.own_network = true, .shared = shared}));
    second->let_in(first->user_home() + "/.ssh/id_ed25519.pub");
    qputenv("HOME", first->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    workbench::LaunchRequest there = fixture_->request(100000, 20);
    there.sets = {"checkpoint.every=5"};
    there.target = first->trusted_target();
    there.target.root = shared + "/heddle";
    const remote::Target other = second->trusted_target();
    there.target.hosts.push_back(other.hosts[0]);
    there.target.hosts[1].name = "other";
    there.target.accepted_keys.push_back(other.accepted_keys[0]);
    parent_ = ended(there);
    QVERIFY(fixture_->reaches_step(parent_, 12));
    second->stop();
    must(second->start_again());
    QVERIFY(fixture_->ends(parent_));
    QCOMPARE(fixture_->detail(parent_).summary.state, storage::RunState::lost);
    second->stop();

    const auto dialog = shown(Kind::resume);
    QVERIFY2(comes(*dialog, "without other, on node"), qPrintable(dialog->text()));
    auto* hosts = part<QComboBox>(*dialog, "hosts");
    QVERIFY(hosts->isVisible());
    QCOMPARE(hosts->itemText(0), QStringLiteral("go on without other"));
    QVERIFY2(dialog->text().contains("1 instead of 2"), qPrintable(dialog->text()));
    QVERIFY2(dialog->text().contains("memory: "), qPrintable(dialog->text()));
    hosts->setCurrentIndex(hosts->count() - 1);  // all of them
    QVERIFY2(comes(*dialog, "other: "), qPrintable(dialog->text()));
    QVERIFY(!part<QPushButton>(*dialog, "start")->isEnabled());
    hosts->setCurrentIndex(0);
    QVERIFY2(comes(*dialog, "without other, on node"), qPrintable(dialog->text()));
    QTest::mouseClick(part<QPushButton>(*dialog, "start"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return opened_ > 0; }, 60000));
    QVERIFY(fixture_->reaches_step(opened_, 12));
    QCOMPARE(fixture_->detail(opened_).ranks, std::vector<int32_t>{0});
  }
};

HEDDLE_WIDGET_TEST(ContinueDialogTest)
#include "continue_dialog_test.moc"
