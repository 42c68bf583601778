// An end.json that the run's own supervisor did not write: it ends nothing and proves nothing.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/process_id.h"
#include "engine/runs/run_files.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using nlohmann::json;
using storage::RunState;

namespace {

const json kDone = {{"state", "done"}, {"exit_code", 0}, {"cause", ""},
                    {"rank", -1},      {"signal", ""},   {"finished", 1.8e9}};

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

class ForgedEndsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;

  void open() { workbench_ = must(Workbench::open(fixture_->store)); }

  storage::RunId launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return run->id;
  }

  std::string end_file(storage::RunId run) const {
    return fixture_->detail(run).run_dir + "/end.json";
  }

  /// Nobody follows it any more, and it has no supervisor.
  void orphan(storage::RunId run) {
    QVERIFY(fixture_->reaches_step(run, 2));
    workbench_.reset();
    const auto status = must(heddle::runs::read_status(fixture_->detail(run).run_dir));
    ::kill(status.state->supervisor.pid, SIGKILL);
    QTRY_COMPARE(identify(status.state->supervisor.pid), ProcessId{});
  }

  bool warns(storage::RunId run) const {
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const auto lines = must(reader.last_lines(run, 100));
    return std::ranges::any_of(lines, [](const storage::LogLine& line) {
      return line.text.find("was not written by the run's supervisor") != std::string::npos;
    });
  }

 private Q_SLOTS:
  void init() { fixture_ = std::make_unique<RunFixture>(); }
  void cleanup() {
    workbench_.reset();
    fixture_.reset();
  }

  void a_run_goes_on_under_it() {
    open();
    const storage::RunId run = launched(fixture_->request(300, 10));
    QVERIFY(fixture_->reaches_step(run, 2));
    write_file(end_file(run), kDone.dump());
    QTRY_VERIFY_WITH_TIMEOUT(warns(run), 30000);
    QVERIFY(fixture_->reaches_step(run, fixture_->detail(run).summary.steps + 5));
    QVERIFY(fixture_->ends(run));
    QCOMPARE(fixture_->detail(run).summary.state, RunState::done);
    QCOMPARE(fixture_->detail(run).summary.steps, int64_t(300));
  }

  void it_makes_no_success_of_a_lost_run_data() {
    QTest::addColumn<QString>("text");
    json signed_by_nobody = kDone;
    signed_by_nobody["signature"] = std::string(128, '0');
    QTest::newRow("not signed") << QString::fromStdString(kDone.dump());
    QTest::newRow("signed by nobody") << QString::fromStdString(signed_by_nobody.dump());
    QTest::newRow("cut short") << QStringLiteral("{\"state\": \"done\", \"exit_co");
    QTest::newRow("empty") << QString();
    QTest::newRow("of other types") << QStringLiteral("{\"state\": 0}");
  }
  void it_makes_no_success_of_a_lost_run() {
    QFETCH(QString, text);
    open();
    const storage::RunId run = launched(fixture_->request(100000, 20));
    orphan(run);
    write_file(end_file(run), text.toStdString());
    open();
    QVERIFY(fixture_->ends(run));
    const storage::RunSummary ended = fixture_->detail(run).summary;
    QCOMPARE(ended.state, RunState::lost);
    QVERIFY2(ended.cause.find("the end.json there is not its own") != std::string::npos,
             ended.cause.c_str());
  }

  void another_run_s_end_is_none() {
    open();
    const storage::RunId done = launched(fixture_->request(3));
    QVERIFY(fixture_->ends(done));
    const storage::RunId run = launched(fixture_->request(100000, 20));
    orphan(run);
    std::filesystem::copy(end_file(done), end_file(run));
    open();
    QVERIFY(fixture_->ends(run));
    QCOMPARE(fixture_->detail(run).summary.state, RunState::lost);
  }

  void without_a_key_no_end_is_one() {
    open();
    const storage::RunId run = launched(fixture_->request(100000, 20));
    orphan(run);
    const storage::RunDetail detail = fixture_->detail(run);
    Place place = must(place_from_json(detail.hosts));
    QVERIFY(!place.end_key.empty());
    place.end_key.clear();
    {
      auto writer = must(storage::Writer::open(fixture_->store));
      must(writer->set_place(run, to_json(place), detail.run_dir));
    }
    write_file(end_file(run), kDone.dump());
    open();
    QVERIFY(fixture_->ends(run));
    QCOMPARE(fixture_->detail(run).summary.state, RunState::lost);
  }

  void an_end_that_was_edited_is_none() {
    open();
    const storage::RunId run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run, 2));
    workbench_.reset();
    const std::string run_dir = fixture_->detail(run).run_dir;
    const auto status = must(heddle::runs::read_status(run_dir));
    ::kill(status.state->ranks[1].process.pid, SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(must(heddle::runs::read_status(run_dir)).condition,
                              heddle::runs::Condition::ended, 30000);
    json end = json::parse(read_file(end_file(run)));
    QCOMPARE(end["state"].get<std::string>(), std::string("failed"));
    end.update(kDone);
    write_file(end_file(run), end.dump());
    open();
    QVERIFY(fixture_->ends(run));
    QCOMPARE(fixture_->detail(run).summary.state, RunState::lost);
  }
};

HEDDLE_TEST(ForgedEndsTest)
#include "forged_ends_test.moc"
