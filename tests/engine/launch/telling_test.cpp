// A run's report: its logs in order of time, as they grow; which steps get a line; the lines'
// words.
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/launch/run_logs.h"
#include "engine/launch/teller.h"
#include "engine/telemetry/log_writer.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using telemetry::Level;
using telemetry::LogWriter;

namespace {

telemetry::Step step_at(int64_t number, double time, std::map<std::string, double> more = {}) {
  more.insert({{"loss", 2.5}, {"grad_norm", 1.25}});
  return {number, time, std::move(more)};
}

/// The steps of 1 to `steps` that get a line, ten a second.
std::vector<int64_t> told_of(StepLines lines, int64_t steps) {
  std::vector<int64_t> told;
  for (int64_t step = 1; step <= steps; ++step)
    if (lines.tells(step_at(step, 0), static_cast<double>(step) * 0.1)) told.push_back(step);
  return told;
}

}  // namespace

class TellingTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) const {
    return folder_->path().toStdString() + "/" + name;
  }
  LogWriter log(const std::string& name) const { return std::move(*LogWriter::open(path(name))); }

  static std::vector<std::string> read(RunLogs& logs) {
    std::vector<std::string> texts;
    const Result<> done = logs.read([&](const LogEntry& entry) {
      const auto* log = std::get_if<telemetry::Log>(&entry.record);
      texts.push_back(fmt::format("{}: {}", entry.log.rank, log ? log->text : "?"));
    });
    if (!done) qFatal("%s", done.error().message.c_str());
    return texts;
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void names_of_logs() {
    QVERIFY(log_name("rank-12.3.hlog") == (LogName{12, 3}));
    QVERIFY(log_name("supervisor.0.hlog") == (LogName{-1, 0}));
    for (const char* other : {"rank-.0.hlog", "rank-1.hlog", "rank--1.0.hlog", "rank-1.0.err",
                              "a.0.hlog", "rank-1.x.hlog"})
      QVERIFY2(!log_name(other), other);
    QCOMPARE(file_of({12, 3}), std::string("rank-12.3.hlog"));
    QCOMPARE(file_of({-1, 0}), std::string("supervisor.0.hlog"));
  }

  void logs_come_in_order_of_time_as_they_grow() {
    LogWriter first = log("rank-0.0.hlog"), second = log("rank-1.0.hlog");
    RunLogs logs(folder_->path().toStdString(),
                 [](const LogName&, telemetry::Type type) { return type == telemetry::Type::log; });
    QVERIFY(first.append(telemetry::Log{1, Level::info, "a"}));
    QVERIFY(first.append(step_at(1, 2)));  // not wanted
    QVERIFY(first.append(telemetry::Log{3, Level::info, "c"}));
    QVERIFY(second.append(telemetry::Log{2, Level::info, "b"}));
    QVERIFY(second.append(telemetry::Log{4, Level::info, "d"}));
    QCOMPARE(read(logs), (std::vector<std::string>{"0: a", "1: b", "0: c", "1: d"}));
    QVERIFY(read(logs).empty());

    // A record that is not whole yet waits; a log that is new is found.
    const std::string frame = *telemetry::encode(telemetry::Log{5, Level::info, "e"}, 3);
    std::ofstream file(path("rank-0.0.hlog"), std::ios::app | std::ios::binary);
    file << frame.substr(0, 20) << std::flush;
    LogWriter supervisor = log("supervisor.0.hlog");
    QVERIFY(supervisor.append(telemetry::Log{6, Level::info, "f"}));
    QCOMPARE(read(logs), (std::vector<std::string>{"-1: f"}));
    file << frame.substr(20) << std::flush;
    QCOMPARE(read(logs), (std::vector<std::string>{"0: e"}));
  }

  void a_directory_that_is_not_there_is_an_error() {
    RunLogs logs(path("nowhere"), [](const LogName&, telemetry::Type) { return true; });
    const Result<> done = logs.read([](const LogEntry&) {});
    QVERIFY(!done);
    QVERIFY2(done.error().message.find("nowhere") != std::string::npos,
             done.error().message.c_str());
  }

  void on_a_terminal_at_most_two_steps_a_second_get_a_line() {
    const std::vector<int64_t> told = told_of(StepLines(true, 100), 100);
    QCOMPARE(told.front(), int64_t(1));
    QCOMPARE(told.back(), int64_t(100));
    QVERIFY(told.size() >= 15 && told.size() <= 21);
  }

  void elsewhere_a_run_has_some_twenty_five_lines() {
    for (const int64_t steps : {5, 40, 60, 1000, 12345}) {
      const std::vector<int64_t> told = told_of(StepLines(false, steps), steps);
      QCOMPARE(told.front(), int64_t(1));
      QCOMPARE(told.back(), steps);
      QVERIFY(told.size() >= static_cast<size_t>(std::min<int64_t>(steps, 20)));
      QVERIFY(told.size() <= 50);
    }
  }

  void what_matters_always_gets_a_line() {
    StepLines lines(false, 1000);
    QVERIFY(lines.tells(step_at(1, 0), 0));
    QVERIFY(!lines.tells(step_at(2, 0), 0));
    QVERIFY(lines.tells(step_at(3, 0, {{"validation_loss", 2}}), 0));
    QVERIFY(lines.tells(step_at(4, 0, {{"loss", NAN}}), 0));
    QVERIFY(lines.tells(step_at(5, 0, {{"grad_norm", INFINITY}}), 0));
    QVERIFY(!lines.tells(step_at(6, 0), 0));
    lines.warned();
    QVERIFY(lines.tells(step_at(7, 0), 0));
    QVERIFY(!lines.tells(step_at(8, 0), 0));
  }

  void a_line_has_units() {
    telemetry::Pace pace;
    pace.add(step_at(1, 10));
    QVERIFY(!pace.seconds_left(40));
    pace.add(step_at(12, 32));
    const telemetry::Step step =
        step_at(12, 32, {{"tokens_per_second", 6667}, {"resident_bytes", 152240000}});
    QCOMPARE(telemetry::step_text(step, 40, pace.seconds_left(40)),
             std::string("step 12/40  loss 2.500  gradient 1.25  6,667 tok/s a rank  145 MiB  "
                         "ETA 56.0 s"));
    QVERIFY(!pace.seconds_left(12));
    QCOMPARE(telemetry::step_text(step_at(1, 0), 1000),
             std::string("step     1/1,000  loss 2.500  gradient 1.25"));
    QCOMPARE(telemetry::log_text({0, Level::warning, "slow"}), std::string("warning: slow"));
    QCOMPARE(telemetry::start_text({0, 0, 2, "planned", {{"host", "loom"}}, {}}),
             std::string("2 ranks, planned, on loom"));
    QCOMPARE(telemetry::end_text({0, "stopped", "stopped by the user", {{"last_loss", 2.5}}}),
             std::string("stopped: stopped by the user; loss 2.500"));
  }

  void a_line_of_json_is_json() {
    const nlohmann::json step =
        nlohmann::json::parse(json_line({{1, 0}, 5, step_at(3, 5, {{"lr", NAN}})}));
    QVERIFY(step["event"] == "step");
    QVERIFY(step["rank"] == 1);
    QVERIFY(step["step"] == 3);
    QVERIFY(step["values"]["loss"] == 2.5);
    QVERIFY(step["values"]["lr"].is_null());
    const nlohmann::json log =
        nlohmann::json::parse(json_line({{-1, 0}, 5, telemetry::Log{5, Level::warning, "\xff"}}));
    QVERIFY(log["level"] == "warning");
  }
};

HEDDLE_TEST(TellingTest)
#include "telling_test.moc"
