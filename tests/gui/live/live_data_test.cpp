// The ranks' records put together, and what is read of a store since the last time.
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/views/live/departure.h"
#include "gui/views/live/live_update.h"
#include "gui/views/live/log_lines.h"
#include "gui/views/live/step_points.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

storage::NewRun named(const std::string& name) {
  storage::NewRun run;
  run.name = name;
  return run;
}

storage::StepRow row(int32_t rank, int64_t step, std::map<std::string, double> values) {
  return {.id = 0,
          .rank = rank,
          .epoch = 0,
          .step = {step, 100.0 + static_cast<double>(step), std::move(values)}};
}

}  // namespace

class LiveDataTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_step_is_given_out_when_all_ranks_have_reported_it() {
    StepPoints steps;
    QVERIFY(steps.take({row(0, 1, {{"loss", 8}}), row(0, 2, {{"loss", 7}})}, 2, false).empty());
    const auto points = steps.take({row(1, 1, {{"loss", 8.5}})}, 2, false);
    QCOMPARE(points.size(), 1u);
    QCOMPARE(points[0].step, 1);
    QCOMPARE(points[0].loss, 8.0);
    // At the end what only one rank has reported is given out too.
    QCOMPARE(steps.take({}, 2, true).size(), 1u);
  }

  void ranks_are_joined_as_each_metric_asks() {
    StepPoints steps;
    const auto points = steps.take({row(0, 10,
                                        {{"tokens_per_second", 100},
                                         {"resident_bytes", 5e9},
                                         {"step_seconds", 2.0},
                                         {"exposed_seconds", 0.2}}),
                                    row(1, 10,
                                        {{"tokens_per_second", 50},
                                         {"resident_bytes", 6e9},
                                         {"step_seconds", 4.0},
                                         {"exposed_seconds", 0.8}})},
                                   2, false);
    QCOMPARE(points.size(), 1u);
    QCOMPARE(points[0].tokensPerSecond, 75.0);
    QCOMPARE(points[0].memoryBytes, 6e9);
    QCOMPARE(points[0].stepSeconds, 4.0);
    QCOMPARE(points[0].exposedShare, (0.1 + 0.2) / 2);
    QVERIFY(!points[0].hasLoss);
    QCOMPARE(steps.latest("resident_bytes").value(), 5e9);  // of the lowest rank
    QVERIFY(!steps.latest("mfu"));
  }

  void the_first_step_that_leaves_the_prediction_is_found() {
    const auto point = [](int64_t step, double seconds, double bytes = 90) {
      StepPoint point;
      point.step = step;
      point.stepSeconds = seconds;
      point.memoryBytes = bytes;
      return point;
    };
    Departures departures({.seconds = 1, .bytes = 100, .uncertain = 0.15});
    // The warm-up, one slow step, a slow and a fast one in turn: none leaves it.
    departures.take({point(1, 9), point(2, 9), point(3, 9), point(4, 1.1), point(5, 3),
                     point(6, 1.1), point(7, 1.3), point(8, 0.5), point(9, 1.3)});
    QVERIFY(!departures.time() && !departures.memory());
    departures.take({point(10, 1.2), point(11, 1.4, 106), point(12, 1)});
    QCOMPARE(departures.time()->step, 9);
    QVERIFY(std::abs(departures.time()->share - 0.3) < 1e-9);
    QCOMPARE(departures.memory()->step, 11);

    // Nobody knows how far off predictions are: a fifth is allowed.
    Departures unknown({.seconds = 1, .bytes = 0, .uncertain = 0});
    unknown.take({point(4, 1.19), point(5, 1.19), point(6, 1.19), point(7, 0.7), point(8, 0.7),
                  point(9, 0.7)});
    QCOMPARE(unknown.time()->step, 7);
    QVERIFY(unknown.time()->share < 0 && !unknown.memory());
    Departures nothing;
    nothing.take({point(4, 1), point(5, 1), point(6, 1)});
    QVERIFY(!nothing.time());
  }

  void it_is_found_in_a_long_run_too_a_part_at_a_time() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("store.sqlite").toStdString();
    auto writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    const storage::RunId run = must(writer->create_run(named("long")).get()).id;
    must(
        writer->set_results(run, {{"predicted_step_seconds", 1.0}, {"predicted_peak_bytes", 100.0}})
            .get());
    constexpr int64_t kSteps = 30'000, kSlow = 21'000, kLarge = 9'000;
    for (const int32_t rank : {0, 1}) {
      std::string log = must(telemetry::encode(telemetry::Start{1, rank, 2, "planned", {}, {}}, 0));
      for (int64_t step = 1; step <= kSteps; ++step) {
        const bool isSlow = step >= kSlow || step % 5000 == 0;
        log += must(telemetry::encode(
            telemetry::Step{step,
                            2,
                            {{"step_seconds", rank == 1 && isSlow ? 1.5 : 1.05},
                             {"resident_bytes", rank == 0 && step >= kLarge ? 120.0 : 90.0}}},
            static_cast<uint64_t>(step)));
      }
      must(writer->ingest(run, rank, 0, 0, log).get());
    }
    auto reader = must(storage::Reader::open(path));
    const storage::RunDetail detail = must(reader.run(run));
    DepartureScan scan;
    do must(scan.goOn(reader, detail, false));
    while (scan.more());
    QCOMPARE(scan.found().memory()->step, kLarge);
    QCOMPARE(scan.found().time()->step, kSlow);
  }

  void of_a_long_run_the_newest_steps_alone_are_read() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("store.sqlite").toStdString();
    auto writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    const storage::RunId run = must(writer->create_run(named("long")).get()).id;
    std::string log;
    int64_t step = 0;
    const auto train = [&](int64_t steps) {
      const size_t before = log.size();
      for (const int64_t last = step + steps; step < last;) {
        ++step;
        telemetry::Step record{step, 2, {{"loss", static_cast<double>(step)}}};
        if (step == 10) record.values["validation_loss"] = 5;
        log += must(telemetry::encode(record, static_cast<uint64_t>(step - 1)));
      }
      must(writer->ingest(run, 0, 0, before, log.substr(before)).get());
    };
    train(20'000);
    auto reader = must(storage::Reader::open(path));
    LiveUpdate update = must(readLive(reader, {}));
    QVERIFY(update.steps.size() < 1000);
    QCOMPARE(update.steps.back().step.step, step);
    StepPoints points;
    points.begin(update.before.value());
    const auto given = points.take(update.steps, 1, false);
    QCOMPARE(given.back().loss, 20'000.0);
    QCOMPARE(points.latest("validation_loss").value(), 5.0);
    QCOMPARE(points.latest("loss").value(), 20'000.0);
    // Reads on while the page is shown; after a while away, only the newest.
    train(10);
    const LiveCursor cursor{.run = run, .step = update.steps.back().id};
    update = must(readLive(reader, cursor));
    QVERIFY(update.steps.size() == 10 && !update.before);
    train(20'000);
    update = must(readLive(reader, cursor));
    QVERIFY(update.steps.size() < 1000 && update.before);
    QCOMPARE(update.steps.back().step.step, step);
  }

  void a_loss_that_is_not_a_number_is_reported_as_one() {
    StepPoints steps;
    const auto points = steps.take({row(0, 1, {{"loss", std::nan("")}})}, 1, false);
    QVERIFY(points[0].hasLoss);
    QVERIFY(std::isnan(points[0].loss));
  }

  void a_rank_that_is_silent_does_not_hold_the_others_back_for_ever() {
    StepPoints steps;
    std::vector<storage::StepRow> rows;
    for (int64_t step = 1; step <= 100; ++step) rows.push_back(row(0, step, {{"loss", 1}}));
    const auto points = steps.take(rows, 2, false);
    QVERIFY(points.size() > 30 && points.size() < 100);
    QCOMPARE(points.front().step, 1);
  }

  void a_rank_that_has_not_ended_what_others_have_lags() {
    StepPoints steps;
    steps.take({row(0, 1, {}), row(1, 1, {})}, 2, false, 10);
    QVERIFY(!steps.lag());
    steps.take({row(0, 2, {})}, 2, false, 20);
    steps.take({row(0, 3, {})}, 2, false, 30);
    const auto lag = steps.lag();
    QVERIFY(lag);
    QCOMPARE(lag->ranks, std::vector<int32_t>{1});
    QCOMPARE(lag->step, 2);
    QCOMPARE(lag->since, 20.0);
    steps.take({row(1, 2, {}), row(1, 3, {})}, 2, false, 40);
    QVERIFY(!steps.lag());
  }

  void the_straggler_is_the_rank_that_computes_longer() {
    QVERIFY(!findStraggler({2.0}));
    QVERIFY(!findStraggler({2.0, 2.05, 2.0}));
    const auto slow = findStraggler({2.0, 2.4, 2.0, 2.1});
    QVERIFY(slow);
    QCOMPARE(slow->index, 1u);
    QCOMPARE(slow->behind, 2.4 - 2.0);
  }

  void stages_of_a_pipeline_are_judged_apart() {
    const std::vector<int> stages = {0, 0, 1, 1};
    QVERIFY(!findStraggler({1.0, 1.01, 2.0, 2.02}, stages));  // the last stage has more to do
    const auto slow = findStraggler({1.0, 1.3, 2.0, 2.02}, stages);
    QVERIFY(slow);
    QCOMPARE(slow->index, 1u);
    QCOMPARE(slow->behind, 1.3 - 1.0);
    QVERIFY(!findStraggler({1.0, 2.0}, {0, 1}));  // nobody to compare with
    // The one furthest behind wins, whichever stage comes first.
    const auto worst = findStraggler({3.0, 1.0, 1.5, 2.0, 1.1, 2.02}, {1, 0, 0, 1, 0, 1});
    QVERIFY(worst);
    QCOMPARE(worst->index, 0u);
  }

  void lines_are_in_order_of_time_whoever_wrote_them() {
    LogLines lines;
    // An imported run's logs come in one after the other.
    QVERIFY(lines.add({{1, 0, 10, telemetry::Level::info, "rank 0 begins"},
                       {2, 0, 30, telemetry::Level::info, "rank 0 ends"}},
                      {}));
    QVERIFY(!lines.add({{3, 1, 11, telemetry::Level::info, "rank 1 begins"},
                        {4, 1, 31, telemetry::Level::warning, "rank 1 ends"}},
                       {}));
    QStringList texts;
    for (const auto& line : lines.last({}, 100)) texts << line.text;
    QCOMPARE(texts.join(", "), QString("rank 0 begins, rank 1 begins, rank 0 ends, rank 1 ends"));
    QCOMPARE(lines.count(telemetry::Level::warning), size_t(1));
    QVERIFY(lines.add({{5, 0, 40, telemetry::Level::info, "more"}}, {}));
    QCOMPARE(lines.added({}).size(), size_t(1));
    QCOMPARE(lines.last({.least = telemetry::Level::warning}, 100).size(), size_t(1));
  }

  void steps_stand_among_the_lines_where_one_wants_them() {
    LogLines lines;
    std::vector<StepPoint> steps(25);
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].step = static_cast<int64_t>(i) + 1;
      steps[i].time = 100 + static_cast<double>(i);
      steps[i].loss = 4;
      steps[i].hasLoss = true;
      steps[i].tokensPerSecond = 2048;
    }
    lines.add({{1, 0, 112, telemetry::Level::info, "a checkpoint"}}, steps);
    QCOMPARE(lines.last({}, 100).size(), size_t(1));
    QStringList texts;
    for (const auto& line : lines.last({.everyStep = 10}, 100)) texts << line.text;
    QCOMPARE(texts, QStringList({"step 10: loss 4.000, 2,048 tok/s a rank", "a checkpoint",
                                 "step 20: loss 4.000, 2,048 tok/s a rank"}));
    QCOMPARE(lines.last({.everyStep = 1}, 100).size(), size_t(26));
  }

  void a_long_line_folds_but_a_warning_does_not() {
    LogLines lines;
    const std::string rest(200, 'x');
    lines.add({{1, 0, 1, telemetry::Level::info, "plan: greedy buckets; expected: step " + rest},
               {2, 0, 2, telemetry::Level::warning, "the disk is slow; " + rest}},
              {});
    auto shown = lines.last({}, 10);
    QCOMPARE(shown[0].text, QString("plan: greedy buckets"));
    QVERIFY(shown[0].folds && !shown[1].folds);
    QVERIFY(shown[1].text.endsWith("xxx"));
    lines.toggle(1);
    shown = lines.last({}, 10);
    QVERIFY(shown[0].folds);
    QVERIFY(shown[0].text.endsWith("xxx"));
  }

  void a_log_with_room_folds_nothing() {
    LogLines lines;
    lines.add({{1, 0, 10, telemetry::Level::info, std::string(200, 'x')}}, {});
    QVERIFY(lines.last({}, 10).front().folds);
    const LogLines::Shown whole = lines.last({.whole = true}, 10).front();
    QVERIFY(!whole.folds);
    QCOMPARE(whole.text.size(), qsizetype(200));
  }

  void only_what_is_new_is_read() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("store.sqlite").toStdString();
    auto writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    storage::NewRun wanted;
    wanted.name = "first";
    wanted.recipe_values = {{"training.steps", "40"}};
    const storage::RunId run = must(writer->create_run(wanted).get()).id;
    std::string log;
    uint64_t seq = 0;
    const auto add = [&](const telemetry::Record& record) {
      log += must(telemetry::encode(record, seq++));
    };
    add(telemetry::Start{1, 0, 1, "planned", {}, {}});
    add(telemetry::Step{1, 2, {{"loss", 4}}});
    telemetry::Spans spans{1, 2, {{"mm", "layers.0", 0, 50, 0, 0}}, {{0, {}}, {30, {}}}};
    spans.memory[1].bytes[plan::Category::activations] = 4096;
    add(spans);
    add(telemetry::Log{2, telemetry::Level::warning, "slow disk"});
    must(writer->ingest(run, 0, 0, 0, log).get());

    auto reader = must(storage::Reader::open(path));
    const LiveUpdate first = must(readLive(reader, {}));
    QCOMPARE(first.run->summary.id, run);
    QCOMPARE(first.pace.steps, 40);
    QCOMPARE(first.steps.size(), 1u);
    QCOMPARE(first.lines.size(), 1u);
    QCOMPARE(first.timelines->step, 1);
    QCOMPARE(first.timelines->timelines[0]->statistics().compute, 50);
    QCOMPARE(first.timelines->counters[0].at(0)->name, QStringLiteral("memory"));
    QCOMPARE(first.timelines->counters[0].at(0)->at(20), 0.0);
    QCOMPARE(first.timelines->counters[0].at(0)->at(40), 4096.0);

    LiveCursor cursor{.run = run,
                      .step = first.steps.back().id,
                      .line = first.lines.back().id,
                      .shownStep = 1,
                      .shownRanks = 1};
    const LiveUpdate nothing = must(readLive(reader, cursor));
    QVERIFY(nothing.steps.empty() && nothing.lines.empty() && !nothing.timelines);

    const size_t before = log.size();
    add(telemetry::Step{2, 3, {{"loss", 3}}});
    add(telemetry::Spans{2, 3, {{"mm", "layers.0", 0, 70, 0, 0}}});
    must(writer->ingest(run, 0, 0, before, log.substr(before)).get());
    const LiveUpdate second = must(readLive(reader, cursor));
    QCOMPARE(second.steps.size(), 1u);
    QCOMPARE(second.steps[0].step.step, 2);
    QCOMPARE(second.timelines->step, 2);
    QVERIFY(second.timelines->counters[0].empty());  // an engine that did not measure it
    cursor.shownStep = 2;
    cursor.wantedStep = 1;
    QCOMPARE(must(readLive(reader, cursor)).timelines->step, 1);
  }
};

HEDDLE_TEST(LiveDataTest)
#include "live_data_test.moc"
