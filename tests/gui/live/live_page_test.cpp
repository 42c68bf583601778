// The Live page over a real store: it follows what is ingested while it is shown, says what went
// wrong, and stops a run of real processes.
#include "gui/views/live/live_page.h"

#include <QAction>
#include <QDialog>
#include <QFile>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTest>
#include <QTextDocument>
#include <nlohmann/json.hpp>

#include "gui/models/run_facts.h"
#include "gui/theme/theme.h"
#include "gui/widgets/empty_state.h"
#include "tests/gui/live/followed.h"
#include "tests/support/geometry.h"
#include "tests/support/test_class.h"
#include "workbench/launch.h"

using namespace heddle;
using namespace heddle::gui;

class LivePageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void without_runs_one_button_leads_to_a_launch() {
    QTemporaryDir folder;
    Shown shown(folder);
    QString asked;
    connect(shown.session.get(), &Session::pageRequested, this,
            [&](const QString& page) { asked = page; });
    shown.show();
    auto* empty = shown.page->findChild<EmptyState*>();
    QVERIFY(empty->isVisible());
    QTest::mouseClick(empty->button(), Qt::LeftButton);
    QCOMPARE(asked, QString("launch"));
  }

  // One run, one memory: the results', which Runs, Compare and the shell show.
  void a_run_that_has_ended_shows_the_peak_that_every_page_shows() {
    storage::NewRun wanted;
    wanted.name = "ended";
    wanted.target = "this-machine";
    wanted.recipe = "[training]\nsteps = 5\n";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    for (int64_t step = 1; step <= 5; ++step) log.step(step, 2);  // of 3 GiB
    log.feed();
    must(shown.writer->set_results(shown.run, {{"peak_bytes", 5.0 * (1LL << 30)}}).get());
    must(shown.writer->set_state(shown.run, storage::RunState::done).get());
    shown.show();
    const auto memory = [&] {
      return shown.tile("memoryTile")->value() + ' ' + shown.tile("memoryTile")->unit();
    };
    QTRY_COMPARE_WITH_TIMEOUT(memory(), QString("5.00 GiB"), 20000);
  }

  void tokens_are_shown_by_source_against_their_weights() {
    storage::NewRun wanted;
    wanted.name = "mixed";
    wanted.target = "this-machine";
    wanted.recipe =
        "[data]\nmix = [{ text = ['/data/web/'], weight = 3 }, { text = ['/data/code/'] }]\n"
        "[training]\nsteps = 100\n";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    const auto step = [&](int64_t number, double web, double code, double all) {
      log.add(telemetry::Step{number,
                              1e9 + static_cast<double>(number),
                              {{"loss", 2},
                               {"tokens_seen", all},
                               {recipe::tokens_seen_of(0), web},
                               {recipe::tokens_seen_of(1), code}}});
      log.feed();
    };
    const auto* sources = shown.page->findChild<SourceStrip*>();
    shown.show();
    QTRY_COMPARE_WITH_TIMEOUT(sources->lines(),
                              (QStringList{QString::fromUtf8("web/ target 75.0 %, –"),
                                           QString::fromUtf8("code/ target 25.0 %, –")}),
                              20000);
    QVERIFY(sources->isVisible());
    step(1, 3072, 1024, 4096);
    step(2, 5120, 3072, 8192);
    QTRY_COMPARE_WITH_TIMEOUT(sources->lines(),
                              (QStringList{"web/ 62.5 % of 75.0 %, 5.12 k tokens",
                                           "code/ 37.5 % of 25.0 %, 3.07 k tokens"}),
                              20000);
    QVERIFY(!sources->toolTip().contains("other data"));
    // The run has gone on from one that had read 4,096 tokens of something else.
    step(3, 6144, 4096, 14336);
    QTRY_VERIFY_WITH_TIMEOUT(
        sources->toolTip().simplified().contains("4.10 k earlier tokens came from other data"),
        20000);
  }

  void a_run_is_followed_while_it_is_shown() {
    storage::NewRun wanted;
    wanted.name = "followed";
    wanted.target = "this-machine";
    wanted.recipe_name = "debug";
    wanted.recipe = "[training]\nsteps = 100\n";
    Followed shown(wanted);
    RankLog first(*shown.writer, shown.run, 0);
    RankLog second(*shown.writer, shown.run, 1);
    for (int64_t step = 1; step <= 5; ++step) {
      first.step(step, 8.0 / static_cast<double>(step));
      second.step(step, 8.0 / static_cast<double>(step));
    }
    first.feed();
    second.feed();
    shown.show();
    QVERIFY(QTest::qWaitFor([&] { return shown.curve("Loss").size() == 5; }, 20000));
    QCOMPARE(shown.tile("lossTile")->value(), QString("1.600"));
    QCOMPARE(shown.tile("memoryTile")->value() + ' ' + shown.tile("memoryTile")->unit(),
             QString("3.00 GiB"));
    QCOMPARE(shown.page->subtitle().section(',', 0, 1), QString("debug on this-machine, 2 ranks"));
    auto* card = shown.page->findChild<StepCard*>();
    QCOMPARE(card->step(), 0);

    // More of it comes in: steps, a profiled step, a warning.
    for (int64_t step = 6; step <= 10; ++step) {
      first.step(step, 1.5);
      second.step(step, 1.5);
    }
    first.spans(10, 100'000);
    second.spans(10, 120'000);
    first.add(telemetry::Log{1e9, telemetry::Level::info, "step 10"});
    first.add(telemetry::Log{1e9, telemetry::Level::warning, "the disk is slow"});
    first.feed();
    second.feed();
    QVERIFY(QTest::qWaitFor(
        [&] { return shown.curve("Loss").size() == 10 && card->timeline()->rows().size() == 2; },
        20000));
    QCOMPARE(card->step(), 10);
    QVERIFY(card->timeline()->rows()[1].warn);  // 20 % longer than the other
    QCOMPARE(card->findChild<Chip*>("straggler")->text(),
             QString("rank 1 computes 20.0 ms longer"));
    auto* log = shown.page->findChild<LogCard*>();
    QVERIFY2(log->text().contains("the disk is slow"), qPrintable(log->text()));
    QVERIFY(log->followsEnd());
    auto* level = log->findChild<Segment*>();
    QTest::mouseClick(level->button(1), Qt::LeftButton);
    QVERIFY(!log->text().contains("step 10"));
    QVERIFY(log->text().contains("the disk is slow"));

    // Dragging over the timeline gives the statistics of the stretch.
    TimelineWidget* timeline = card->timeline();
    const int y = timeline->layoutOfRows().rows[0].lanes[0].center().y();
    const auto at = [&](double us) {
      return QPoint(static_cast<int>(timeline->axis().toPixel(us)), y);
    };
    QTest::mousePress(timeline->viewport(), Qt::LeftButton, {}, at(20'000));
    QTest::mouseMove(timeline->viewport(), at(40'000));
    QTest::mouseMove(timeline->viewport(), at(60'000));
    QTest::mouseRelease(timeline->viewport(), Qt::LeftButton, {}, at(60'000));
    QVERIFY(card->findChild<QLabel*>("statistics")->text().contains("selection"));

    // Previous and next profiled step.
    first.step(11, 1.4);
    second.step(11, 1.4);
    first.spans(11, 90'000);
    second.spans(11, 90'000);
    first.feed();
    second.feed();
    QVERIFY(QTest::qWaitFor([&] { return card->step() == 11; }, 20000));
    QTest::mouseClick(card->findChild<QToolButton*>("previousStep"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return card->step() == 10; }, 20000));
    QTest::mouseClick(card->findChild<QToolButton*>("nextStep"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return card->step() == 11; }, 20000));

    // A loss that is no number is marked, not drawn.
    first.step(12, std::nan(""));
    second.step(12, std::nan(""));
    first.feed();
    second.feed();
    QVERIFY(QTest::qWaitFor([&] { return !shown.curve("Loss").notFinite().empty(); }, 20000));
    QCOMPARE(shown.tile("lossTile")->value(), QString("NaN"));
    QVERIFY(shown.messages.isEmpty());
  }

  // Before its own first step has ended.
  void a_step_and_its_prediction_stand_one_above_the_other() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = must(storage::Writer::open(shown.path));
    must(writer->take_lease());
    storage::NewRun wanted;
    wanted.name = "predicted";
    wanted.recipe = "[training]\nsteps = 100\n";
    const storage::RunId run = must(writer->create_run(wanted).get()).id;
    plan::Document document;
    document.step_seconds = 0.3;
    document.ranks_shown.resize(1);
    document.ranks_shown[0].step_seconds = 0.3;
    document.timelines = {{0, {{"mm", "layers.0", 0, 300'000, 0, 0}}, {}}};
    RankLog first(*writer, run, 0), second(*writer, run, 1);
    first.add(telemetry::Plan{1e9, "abc", plan::to_json(document).dump()});
    for (RankLog* log : {&first, &second}) {
      log->spans(5, 400'000);
      log->step(5, 4.0);
      log->feed();
    }
    shown.show();
    shown.page->showRun(run);
    QTRY_VERIFY(shown.page->isReady());
    auto* timeline = shown.page->findChild<TimelineWidget*>();
    const auto titles = [timeline] {
      QStringList titles;
      for (const TimelineRow& row : timeline->rows()) titles << row.title;
      return titles;
    };
    QTRY_COMPARE(titles(), QStringList({"rank 0", "predicted", "rank 1"}));
    auto* shows = shown.page->findChild<Segment*>("shows");
    const auto statistics = [&] { return shown.page->findChild<QLabel*>("statistics")->text(); };
    QVERIFY2(statistics().contains("mean of 2 ranks"), qPrintable(statistics()));
    QTest::mouseClick(shows->button(1), Qt::LeftButton);
    QCOMPARE(titles(), QStringList({"rank 0", "rank 1"}));
    QTest::mouseClick(shows->button(2), Qt::LeftButton);
    QCOMPARE(titles(), QStringList({"predicted"}));
    QVERIFY2(statistics().contains("300 ms"), qPrintable(statistics()));
    // The choice stays with the next step.
    first.spans(6, 500'000);
    first.step(6, 4.0);
    first.feed();
    QTRY_COMPARE(shown.page->findChild<StepCard*>()->step(), 6);
    QCOMPARE(titles(), QStringList({"predicted"}));
    QTest::mouseClick(shows->button(0), Qt::LeftButton);
    QCOMPARE(titles(), QStringList({"rank 0", "predicted"}));
  }

  void a_continuation_begins_where_its_parent_was() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun parent;
    parent.name = "long-run-to-stop";
    const storage::RunId first = must(writer->create_run(parent).get()).id;
    must(writer->set_state(first, storage::RunState::stopped).get());
    storage::NewRun wanted = parent;
    wanted.recipe_values = {{"training.steps", "1290"}};
    wanted.lineage = storage::Lineage{storage::Lineage::Kind::resume, first, parent.name, 1266};
    const storage::RunId run = running(*writer, wanted);
    shown.show();
    QCOMPARE(shown.tile("timeTile")->note(), QString("step 1,266 of 1,290"));
    auto reader = must(storage::Reader::open(shown.path));
    QCOMPARE(must(readPace(reader, must(reader.run(run)).summary)).step, int64_t(1266));
  }

  // The tile shows the same number before the end as after it, and says which that is.
  void exposed_is_the_runs_median_all_the_time() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun wanted;
    wanted.name = "run";
    const storage::RunId run = running(*writer, wanted);
    RankLog log(*writer, run, 0);
    for (int64_t step = 1; step <= 12; ++step) {
      telemetry::Step record{step, 1e9, {{"loss", 4}, {"step_seconds", 0.5}}};
      if (step % 4 == 0) record.values["exposed_seconds"] = 0.01 * static_cast<double>(step);
      log.add(record);
    }
    log.feed();
    shown.show();
    Tile* tile = shown.tile("exposedTile");
    QTRY_COMPARE(tile->value(), QString("16.0"));  // the median of 40, 80 and 120 ms
    QCOMPARE(tile->note(), QString("80.0 ms, median"));
    auto reader = must(storage::Reader::open(shown.path));
    QCOMPARE(must(readExposed(reader, run, {0})).value().share, 0.16);  // as in the runs table
    log.add(telemetry::End{1e9, "done", "", {{"exposed_seconds", 0.08}, {"step_seconds", 0.5}}});
    log.feed();
    must(writer->set_state(run, storage::RunState::done).get());
    QTRY_VERIFY(storage::has_ended(must(reader.run(run)).summary.state));
    QTest::qWait(600);
    QCOMPARE(tile->value(), QString("16.0"));
    QCOMPARE(tile->note(), QString("80.0 ms, median"));
  }

  // In the curves that other pages draw many steps are one point.
  void one_step_that_is_not_a_number_is_seen_among_thousands() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun wanted;
    wanted.name = "run";
    const storage::RunId run = running(*writer, wanted);
    RankLog log(*writer, run, 0);
    for (int64_t step = 1; step <= 4000; ++step) log.step(step, step == 2001 ? NAN : 3);
    log.feed();
    auto reader = must(storage::Reader::open(shown.path));
    const Series loss = must(readRunFacts(reader, run, 200)).loss;
    QVERIFY(loss.size() < 500);
    QVERIFY(!loss.notFinite().empty());
    QVERIFY(std::abs(loss.notFinite().front() - 2001) < 40);
    QCOMPARE(loss.lastY(), 3.0);
  }

  void a_loss_that_is_not_a_number_is_named() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun wanted;
    wanted.name = "run";
    RankLog log(*writer, running(*writer, wanted), 0);
    log.step(1, INFINITY);
    log.feed();
    shown.show();
    QTRY_COMPARE(shown.tile("lossTile")->value(), QString("∞"));
    log.step(2, NAN);
    log.feed();
    QTRY_COMPARE(shown.tile("lossTile")->value(), QString("NaN"));
    log.step(3, 4.026e-4);
    log.feed();
    QTRY_COMPARE(shown.tile("lossTile")->value(), QString("0.000403"));
  }

  void charts_have_the_room_of_a_timeline_that_will_not_come() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun wanted;
    wanted.name = "run";
    const storage::RunId run = running(*writer, wanted);
    RankLog log(*writer, run, 0);
    for (int64_t step = 1; step <= 5; ++step) log.step(step, 3);
    log.feed();
    shown.page->resize(1600, 1000);
    shown.show();
    const auto* halves = shown.page->findChild<QSplitter*>();
    const auto chartsLead = [&] { return halves->sizes()[0] > halves->sizes()[1]; };
    QTRY_COMPARE(shown.tile("lossTile")->value(), QString("3.000"));
    QVERIFY(!chartsLead());  // a step may still be profiled
    must(writer->set_state(run, storage::RunState::done).get());
    QTRY_VERIFY(chartsLead());
  }

  // A window of 1100 x 700: names and words are cut where one sees it, or not at all.
  void nothing_is_cut_in_a_small_window() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::RunId run = 0;
    for (int i = 0; i < 2; ++i) {
      storage::NewRun wanted;
      wanted.name = "long-run-to-stop-and-to-go-on-with";
      run = must(writer->create_run(wanted).get()).id;
    }
    must(writer->set_state(run, storage::RunState::running).get());
    RankLog first(*writer, run, 0), second(*writer, run, 1);
    for (RankLog* log : {&first, &second}) {
      log->step(1, 4);
      log->spans(1, log == &first ? 100'000 : 160'000);
      log->feed();
    }
    storage::LogLine line;
    line.level = telemetry::Level::warning;
    line.time = 2e9;
    line.text =
        "rank 1 (process 77) has been stopped by SIGSTOP for 2.0 s, and all the others of its "
        "group have been waiting for it since step 1, in the reduction of the gradients of "
        "layers.11.feed_forward";
    must(writer->add_line(run, line).get());
    shown.page->resize(1040, 620);
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QTRY_COMPARE(misplaced(*banner), QStringList());

    auto* picker = qobject_cast<RunPicker*>(shown.page->headerWidget());
    picker->setParent(nullptr);
    picker->resize(150, 30);
    picker->show();
    QVERIFY2(picker->shownName().startsWith("long") && picker->shownName().endsWith("-2") &&
                 picker->shownName().contains(QChar(0x2026)),
             qPrintable(picker->shownName()));
    QCOMPARE(picker->toolTip(), QString("long-run-to-stop-and-to-go-on-with-2"));
    picker->setParent(shown.page.get());

    auto* statistics = shown.page->findChild<QLabel*>("statistics");
    QTRY_VERIFY(statistics->text().contains("exposed"));
    QTextDocument text;
    text.setDefaultFont(statistics->font());
    text.setDocumentMargin(0);
    text.setHtml(statistics->text());
    QVERIFY2(text.idealWidth() <= statistics->width(), qPrintable(text.toPlainText()));
  }

  void no_row_of_facts_is_cut_in_half() {
    RankCard card;
    card.setBars("compute", {0, 1}, {1.0, 1.1});
    QVector<QPair<QString, QString>> facts;
    for (int i = 0; i < 8; ++i) facts.append({QString("fact %1").arg(i), "1"});
    card.setFacts(facts);
    card.show();
    auto* area = card.findChild<QScrollArea*>();
    for (const int height : {700, 260, 251, 242, 233, 224}) {
      card.resize(280, height);
      QCoreApplication::processEvents();
      for (const QLabel* label : area->widget()->findChildren<QLabel*>()) {
        const auto whole = [&] {
          const int bottom = area->viewport()->height();
          return label->geometry().bottom() < bottom || label->geometry().top() >= bottom;
        };
        QTRY_VERIFY2(whole(), qPrintable(QString("%1 at %2").arg(label->text()).arg(height)));
      }
    }
  }

  // The oldest of very many, too, and by a part of its name.
  void any_run_is_found_by_typing() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::RunId oldest = 0;
    std::vector<storage::Writer::Future<storage::CreatedRun>> created;
    for (int i = 0; i < 150; ++i) {
      storage::NewRun wanted;
      wanted.name = i == 0 ? "the-first-of-all" : "run-" + std::to_string(i);
      created.push_back(writer->create_run(wanted));
    }
    for (auto& run : created) {
      const storage::RunId id = must(run.get()).id;
      if (oldest == 0) oldest = id;
      must(writer->set_state(id, storage::RunState::done).get());
    }
    shown.show();
    auto* picker = qobject_cast<RunPicker*>(shown.page->headerWidget());
    QCOMPARE(picker->currentText(), QString("run-149"));
    picker->show();
    picker->showPopup();
    auto* list = picker->findChild<PickList*>();
    QCOMPARE(list->shown().size(), 150);
    auto* field = list->findChild<QLineEdit*>();
    QTest::keyClicks(field, "FIRST");
    QCOMPARE(list->shown(), QStringList{"the-first-of-all"});
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(!list->isVisible());
    QVERIFY(QTest::qWaitFor([&] { return shown.page->isReady(); }, 20000));
    QCOMPARE(picker->currentText(), QString("the-first-of-all"));
    // Also when another page asks for it.
    shown.page->showRun(oldest + 1);
    QVERIFY(QTest::qWaitFor([&] { return picker->currentText() == "run-1"; }, 20000));
  }

  // Scrolled to where there is no room for them.
  void no_fact_about_ranks_is_left_out() {
    RankCard card;
    card.setBars("compute", {0, 1}, {1.0, 1.1});
    QVector<QPair<QString, QString>> facts;
    for (int i = 0; i < 8; ++i) facts.append({QString("fact %1").arg(i), "1"});
    card.setFacts(facts);
    card.show();
    auto* area = card.findChild<QScrollArea*>();
    for (const int height : {700, 200}) {
      card.resize(280, height);
      QCoreApplication::processEvents();
      QCOMPARE(area->verticalScrollBar()->maximum() > 0, height == 200);
      area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum());
      QLabel* last = nullptr;
      for (QLabel* label : card.findChildren<QLabel*>())
        if (label->text() == "fact 7") last = label;
      QVERIFY(last);
      QVERIFY(area->viewport()->rect().contains(
          QRect(last->mapTo(area->viewport(), QPoint()), last->size())));
    }
  }

  void a_failed_run_and_a_damaged_log_are_said() {
    storage::NewRun wanted;
    wanted.name = "broken";
    wanted.recipe_name = "debug";
    wanted.recipe = "[training]\nsteps = 100\n";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    log.step(1, 4);
    log.addBytes(std::string(200, 'x'));
    log.step(2, 3);
    log.feed();
    must(shown.writer
             ->set_state(shown.run, storage::RunState::failed,
                         "rank 1 was killed by signal 9 (SIGKILL)")
             .get());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QVERIFY2(banner->text().contains("The run failed: rank 1 was killed by signal 9 (SIGKILL)"),
             qPrintable(banner->text()));
    QVERIFY2(banner->text().contains("In rank 0's log, 200 bytes from byte"),
             qPrintable(banner->text()));
    QTRY_COMPARE_WITH_TIMEOUT(shown.curve("Loss").size(), size_t(2), 20000);
    QVERIFY(!shown.action("stop")->isVisible());
    QString asked;
    connect(shown.session.get(), &Session::recipeRequested, this,
            [&](const QString& page, const QString&, const QString& toml) {
              asked = page + ' ' + toml;
            });
    QTest::mouseClick(banner->findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(asked, QString("compose [training]\nsteps = 100\n"));
  }

  void a_run_that_survived_says_so() {
    storage::NewRun wanted;
    wanted.name = "survived";
    wanted.target = "this-machine";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    log.step(1, 4);
    log.add(telemetry::Start{1e9 + 2,
                             0,
                             2,
                             "planned",
                             {{"restarted_after", "rank 1 was killed by SIGKILL after step 1"}},
                             {{"restarts", 2}}});
    log.step(2, 3);
    log.feed();
    must(shown.writer->set_state(shown.run, storage::RunState::done, "").get());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QCOMPARE(banner->text(), QString("Ranks failed on the way: Restarted 2 times, last after: rank "
                                     "1 was killed by SIGKILL after step 1."));
  }

  void stop_ends_a_run_and_kill_asks_first() {
    QTemporaryDir folder;
    Shown shown(folder);
    const auto file = [&](const char* name, const char* text) {
      QFile out(folder.filePath(name));
      QVERIFY(out.open(QIODevice::WriteOnly));
      out.write(text);
    };
    file("corpus.txt", "To be, or not to be.\n");
    file("tokenizer.json", "{}\n");
    workbench::LaunchRequest request;
    request.recipe_file = folder.filePath("debug.toml").toStdString();
    // rank_engine takes training.seed as milliseconds a step.
    request.recipe_text =
        "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 32\n"
        "[training]\nsteps = 100000\nseed = 20\n[hardware]\nranks = 2\n";
    request.target.root = folder.filePath("node").toStdString();
    qputenv("HEDDLE_ENGINE", HEDDLE_BINARY_DIR "/alone/rank_engine");
    const auto launched = workbench::launch(*must(storage::Writer::open(shown.path)), request);
    QVERIFY2(launched, launched ? "" : launched.error().message.c_str());
    shown.show();
    QVERIFY(QTest::qWaitFor([&] { return shown.curve("Loss").size() > 3; }, 60000));
    QVERIFY(shown.action("stop")->isVisible());
    shown.action("kill")->trigger();
    auto* dialog = QApplication::activeModalWidget();
    QVERIFY(dialog && dialog->objectName() == "confirmKill");
    QTest::keyClick(dialog, Qt::Key_Escape);
    QVERIFY(shown.action("stop")->isEnabled());
    shown.action("stop")->trigger();
    QVERIFY(!shown.action("stop")->isEnabled());
    QVERIFY(shown.page->subtitle().contains("stopping"));
    QVERIFY(QTest::qWaitFor([&] { return !shown.action("stop")->isVisible(); }, 60000));
    auto reader = must(storage::Reader::open(shown.path));
    const storage::RunSummary stopped = must(reader.run(launched->id)).summary;
    QCOMPARE(stopped.state, storage::RunState::stopped);
    auto* banner = shown.page->findChild<RunBanner*>();
    const QString left =
        QString("Stopped: after step %1; checkpoint step-%1 is in ").arg(stopped.steps);
    QVERIFY(QTest::qWaitFor([&] { return banner->text().startsWith(left); }, 20000));
    // It can be resumed from what it has kept.
    std::pair<qint64, bool> asked;
    connect(shown.session.get(), &Session::continueRequested, this, [&](qint64 run, bool fork) {
      asked = {run, fork};
    });
    for (const auto& [name, fork] : {std::pair("resume", false), std::pair("fork", true)}) {
      QVERIFY(shown.action(name)->isVisible());
      shown.action(name)->trigger();
      QCOMPARE(asked, std::pair(qint64(launched->id), fork));
    }
    QVERIFY2(shown.messages.isEmpty(), qPrintable(shown.messages.join('\n')));
  }
};

HEDDLE_WIDGET_TEST(LivePageTest)
#include "live_page_test.moc"
