// The alerts that series of steps give, as text; and a run that is followed, with them in its log.
#include "workbench/alerts.h"

#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "base/number_text.h"
#include "engine/probe/report.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/place.h"
#include "workbench/run_watch.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A loss that falls from 8 with a little noise.
double usual_loss(int64_t step) {
  return 2 + 6 / std::sqrt(static_cast<double>(step)) + 0.05 * static_cast<double>(step * 7 % 5);
}

std::string lines_of(AlertWatch& watch) {
  std::string text;
  for (const Alert& alert : watch.take()) text += line_of(alert).text + "\n";
  return text;
}

}  // namespace

class AlertsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_noisy_loss_that_falls_gives_no_alert() {
    AlertWatch watch;
    for (int64_t step = 1; step <= 2000; ++step) watch.loss(step, usual_loss(step));
    QCOMPARE(lines_of(watch), std::string());
  }

  void a_spike_is_said_once_and_that_it_is_over() {
    AlertWatch watch;
    for (int64_t step = 1; step <= 500; ++step)
      watch.loss(step, step >= 300 && step < 306 ? 9.5 : usual_loss(step));
    const std::string text = lines_of(watch);
    QVERIFY2(text.starts_with("alert, loss spike: step 300: loss 9.500, "), text.c_str());
    QVERIFY2(text.find("\nover, loss spike: step 321: loss ") != std::string::npos, text.c_str());
    QCOMPARE(std::count(text.begin(), text.end(), '\n'), 2);
  }

  void a_loss_that_is_not_finite_is_one_episode_until_it_is_finite_for_a_while() {
    AlertWatch watch;
    for (int64_t step = 1; step <= 100; ++step)
      watch.loss(step, step >= 40 && step < 50 && step != 45 ? kNan : usual_loss(step));
    QCOMPARE(lines_of(watch), std::string("alert, loss not finite: step 40: the loss is not a "
                                          "number\nover, loss not finite: step 65: loss 2.744\n"));
  }

  void throughput_is_compared_with_the_runs_own_median() {
    AlertWatch watch;
    for (int64_t step = 1; step <= 400; ++step) {
      // One slow step after each checkpoint is none.
      const double rate = step % 50 == 0 ? 100 : 1000;
      watch.throughput(step, step > 200 && step <= 300 ? rate / 2 : rate);
    }
    const std::string text = lines_of(watch);
    QVERIFY2(text.starts_with("alert, throughput fell: step 20"), text.c_str());
    QVERIFY2(text.find("500 tok/s a rank, 50.0 % below 1,000 tok/s, the run's median") !=
                 std::string::npos,
             text.c_str());
    QVERIFY2(text.find("\nover, throughput fell: step 3") != std::string::npos, text.c_str());
    QCOMPARE(std::count(text.begin(), text.end(), '\n'), 2);
  }

  void memory_near_the_limit_names_the_host() {
    AlertWatch watch;
    constexpr double kGib = 1 << 30;
    watch.memory(1, "the ranks on loom hold", 60 * kGib, 64 * kGib);
    watch.memory(2, "the ranks on loom hold", 62 * kGib, 64 * kGib);
    watch.memory(3, "the ranks on loom hold", 63 * kGib, 64 * kGib);
    QCOMPARE(lines_of(watch), std::string("alert, memory near the limit: step 2: the ranks on loom "
                                          "hold 62.0 GiB of 64.0 GiB, 96.9 %\n"));
  }

  void no_step_is_an_alert_after_a_time_that_depends_on_the_run() {
    AlertWatch quick, slow, first;
    for (int i = 0; i < 10; ++i) slow.step_seconds(60);
    quick.quiet(7, 121);
    quick.quiet(7, 130);
    slow.quiet(7, 599);
    first.quiet(0, 500);
    QCOMPARE(lines_of(quick),
             "alert, no step: none has ended for " + seconds_text(121) + "; the last was step 7\n");
    QCOMPARE(lines_of(slow), std::string());
    QCOMPARE(lines_of(first), std::string());
    quick.quiet(8, 0);
    QCOMPARE(lines_of(quick), std::string("over, no step: step 8 has ended\n"));
  }

  void a_rule_of_zero_is_off() {
    AlertWatch watch({.not_finite = false, .spike = 0, .slower = 0, .memory = 0, .silence = 0});
    for (int64_t step = 1; step <= 100; ++step) {
      watch.loss(step, step == 50 ? kNan : step == 60 ? 1e9 : usual_loss(step));
      watch.throughput(step, step > 60 ? 1 : 1000);
      watch.memory(step, "the ranks on loom hold", 100, 100);
      watch.quiet(step, 1e6);
    }
    QCOMPARE(lines_of(watch), std::string());
  }

  void lines_tell_what_is_still_open() {
    std::map<AlertKind, Alert> open;
    const Alert spike{AlertKind::spike, false, "step 4: loss 9"};
    const Alert over{AlertKind::spike, true, "step 30: loss 2"};
    const Alert silence{AlertKind::silence, false, "none has ended for 130 s"};
    auto of_a_rank = line_of(spike);
    of_a_rank.rank = 0;
    follow_alerts(open, {line_of(spike), line_of(silence), line_of(over), of_a_rank});
    QCOMPARE(open.size(), 1u);
    QCOMPARE(open.at(AlertKind::silence).words, silence.words);
    QCOMPARE(line_of(spike).level, telemetry::Level::warning);
    QCOMPARE(line_of(over).level, telemetry::Level::info);
  }

  void rules_are_kept_in_a_file() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("heddle/alerts.json").toStdString();
    QVERIFY(must(read_alert_rules(path)) == AlertRules{});
    const AlertRules rules{.not_finite = false, .spike = 5, .slower = 0.5, .silence = 30};
    must(write_alert_rules(path, rules));
    QVERIFY(must(read_alert_rules(path)) == rules);
  }

  void bad_rules_say_what_would_be_right_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown") << R"({"spikes": 4})"
                             << "spikes: there is no such rule; valid: not_finite, spike, ";
    QTest::newRow("share") << R"({"slower": 30})"
                           << "slower: valid: a share from 0 to 1";
    QTest::newRow("words") << R"({"silence": "long"})"
                           << "silence: valid: seconds from 0 on";
    QTest::newRow("flag") << R"({"not_finite": 1})"
                          << "not_finite: valid: true or false";
    QTest::newRow("list") << "[1]"
                          << "valid: an object of rules";
  }
  void bad_rules_say_what_would_be_right() {
    QFETCH(const QString, text);
    QFETCH(const QString, says);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("alerts.json").toStdString();
    std::ofstream(path) << text.toStdString();
    const auto rules = read_alert_rules(path);
    QVERIFY(!rules);
    QVERIFY2(rules.error().message.find(says.toStdString()) != std::string::npos,
             rules.error().message.c_str());
    QVERIFY(rules.error().message.starts_with(path));
  }

  // The spike comes while it is followed; one that the store had before is no news, and a process
  // that takes over says nothing again.
  void a_followed_run_has_its_alerts_in_its_log() {
    const QTemporaryDir folder;
    const std::string store = folder.filePath("heddle.sqlite").toStdString();
    const auto writer = must(storage::Writer::open(store));
    must(writer->take_lease());
    storage::NewRun wanted;
    wanted.name = "spiky";
    wanted.target = "this-machine";
    const storage::RunId run = must(writer->create_run(wanted).get()).id;
    uint64_t offset = 0, seq = 0;
    const auto feed = [&](int64_t first, int64_t last, int64_t spike) {
      std::string bytes;
      if (seq == 0)
        bytes += must(telemetry::encode(telemetry::Start{1e9, 0, 1, "planned", {}, {}}, seq++));
      for (int64_t step = first; step <= last; ++step)
        bytes += must(
            telemetry::encode(telemetry::Step{step,
                                              1e9 + static_cast<double>(step),
                                              {{"loss", step == spike ? 50.0 : usual_loss(step)}}},
                              seq++));
      must(writer->ingest(run, 0, 0, offset, bytes).get());
      offset += bytes.size();
    };
    const auto log = [&] {
      std::string text;
      auto reader = must(storage::Reader::open(store));
      for (const auto& line : must(reader.last_lines(run, 100)))
        if (alert_of(line)) text += line.text.substr(0, line.text.find(", ", 8)) + "\n";
      return text;
    };
    const Place place;
    feed(1, 100, 60);
    {
      RunWatch watch(store, *writer, run, place);
      watch.begin();
      QVERIFY(!watch.look(true));
      feed(101, 150, 140);
      QVERIFY(watch.look(true));
      QCOMPARE(log(), std::string("alert, loss spike: step 140: loss 50.000\n"));
    }
    RunWatch next(store, *writer, run, place);
    next.begin();
    QVERIFY(!next.look(true));
    feed(151, 200, 0);
    QVERIFY(next.look(true));
    QVERIFY2(log().find("\nover, loss spike: step ") != std::string::npos, log().c_str());
  }

  // Two ranks, each with a GPU, on this machine: first all is well; then they hold most of the
  // machine's memory, then rank 1's GPU is nearly full.
  void memory_near_a_limit_is_seen_in_the_store() {
    const QTemporaryDir folder;
    const std::string store = folder.filePath("heddle.sqlite").toStdString();
    const auto writer = must(storage::Writer::open(store));
    must(writer->take_lease());
    storage::NewRun wanted;
    wanted.name = "full";
    wanted.target = remote::kThisMachine;
    const storage::RunId run = must(writer->create_run(wanted).get()).id;
    const double machine = static_cast<double>(must(probe::memory_of_this_machine()).memory_bytes);
    constexpr double kGpu = 80.0 * (1 << 30);
    std::array<uint64_t, 2> offsets{}, sequences{};
    const auto feed = [&](int64_t first, int64_t last, double resident, std::array<double, 2> gpu) {
      for (int32_t rank = 0; rank < 2; ++rank) {
        const auto of = static_cast<size_t>(rank);
        std::string bytes;
        if (sequences[of] == 0)
          bytes += must(telemetry::encode(
              telemetry::Start{1e9, rank, 2, "planned", {}, {{"device_memory_bytes", kGpu}}},
              sequences[of]++));
        for (int64_t step = first; step <= last; ++step)
          bytes += must(telemetry::encode(
              telemetry::Step{
                  step,
                  1e9 + static_cast<double>(step),
                  {{"loss", 2}, {"resident_bytes", resident}, {"device_bytes", gpu[of]}}},
              sequences[of]++));
        must(writer->ingest(run, rank, 0, offsets[of], bytes).get());
        offsets[of] += bytes.size();
      }
    };
    Place place;
    place.target = remote::this_machine();
    place.shares = {{.root = {}, .folder = {}, .engine_id = {}, .first_rank = 0, .local_ranks = 2}};
    std::string said;
    RunWatch watch(store, *writer, run, place, [&](const Alert& alert) {
      said += (alert.over ? "over: " : "") + alert.words + "\n";
    });
    watch.begin();
    const auto words_of = [&] {
      watch.look(true);
      return std::exchange(said, {});
    };
    feed(1, 20, 0.3 * machine, {0.9 * kGpu, 0.9 * kGpu});
    QCOMPARE(words_of(), std::string());
    feed(21, 21, 0.48 * machine, {0.9 * kGpu, 0.9 * kGpu});
    QCOMPARE(words_of(), fmt::format("step 21: the ranks on this-machine hold {} of {}, 96.0 %\n",
                                     bytes_text(0.96 * machine), bytes_text(machine)));
    for (int64_t step = 22; step <= 40; ++step) {
      feed(step, step, 0.3 * machine, {0.9 * kGpu, 0.9 * kGpu});
      watch.look(true);
    }
    QVERIFY2(said.starts_with("over: step ") && said.find('\n') == said.size() - 1, said.c_str());
    said.clear();
    feed(41, 41, 0.3 * machine, {0.9 * kGpu, 0.975 * kGpu});
    QCOMPARE(words_of(), std::string("step 41: the GPU of rank 1 on this-machine holds 78.0 GiB of "
                                     "80.0 GiB, 97.5 %\n"));
    std::map<AlertKind, Alert> open;
    auto reader = must(storage::Reader::open(store));
    follow_alerts(open, must(reader.last_lines(run, 100)));
    QCOMPARE(open.size(), size_t{1});
    QVERIFY(open.at(AlertKind::memory).words.starts_with("step 41: the GPU of rank 1"));
  }
};

HEDDLE_TEST(AlertsTest)
#include "alerts_test.moc"
