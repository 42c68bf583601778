// Runs that wait for their target and begin one after another; sweeps as typed. The runs are
// rank_engine's, which obey and log as real ones.
#include "workbench/queue.h"

#include <QTest>

#include "base/process.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class QueueRunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;

  std::vector<storage::CreatedRun> enqueue_sweep(storage::Writer& writer, const LaunchRequest& base,
                                                 const std::vector<std::string>& sets,
                                                 const storage::Halving& halving = {}) const {
    auto reader = must(storage::Reader::open(fixture_->store));
    const auto runs = must(expand(must(read_sweep(sets))));
    const auto made =
        enqueue(writer, {.requests = must(requests_of(reader, base, runs)), .halving = halving});
    if (!made) qFatal("%s", made.error().message.c_str());
    return *made;
  }
  RunState state(const storage::CreatedRun& run) const {
    return fixture_->detail(run.id).summary.state;
  }
  static int going(storage::Reader& reader) {
    return static_cast<int>(std::ranges::count_if(
        must(reader.unfinished_runs()),
        [](const storage::RunSummary& run) { return storage::is_going(run.state); }));
  }
  process::Completed heddle(std::vector<std::string> words) const {
    words.insert(words.begin(), HEDDLE_BINARY_DIR "/command_driver");
    words.insert(words.end(), {"--store", fixture_->store});
    return must(process::run({.argv = words, .deadline = std::chrono::seconds(120)}));
  }

 private Q_SLOTS:
  void init() { fixture_ = std::make_unique<RunFixture>(); }
  void cleanup() { fixture_.reset(); }

  void a_sweep_runs_one_after_another_through_a_restart() {
    const LaunchRequest base = fixture_->request(20, 5);
    std::vector<storage::CreatedRun> runs;
    {
      const auto writer = must(storage::Writer::open(fixture_->store));
      runs = enqueue_sweep(*writer, base, {"weight_decay=0.1,0.2,0.3"});
    }
    QCOMPARE(runs[1].name, std::string("debug weight_decay=0.2"));
    QVERIFY(state(runs[0]) == RunState::queued);  // nobody has the store open
    auto reader = must(storage::Reader::open(fixture_->store));
    int most = 0;
    const auto wait_for = [&](const storage::CreatedRun& run) {
      return QTest::qWaitFor(
          [&] {
            most = std::max(most, going(reader));
            return storage::has_ended(state(run));
          },
          60000);
    };
    {
      const auto workbench = must(Workbench::open(fixture_->store));
      QVERIFY(wait_for(runs[0]));
    }
    const auto workbench = must(Workbench::open(fixture_->store));
    QVERIFY(wait_for(runs[2]));
    QVERIFY(most <= 1);
    for (const storage::CreatedRun& run : runs) {
      const storage::RunDetail detail = fixture_->detail(run.id);
      QVERIFY2(detail.summary.state == RunState::done, detail.summary.cause.c_str());
      QCOMPARE(detail.summary.group, std::string("debug"));
      fixture_->verify_complete(run.id, 2);
    }
    QVERIFY(*fixture_->detail(runs[0].id).summary.finished <=
            *fixture_->detail(runs[1].id).summary.started);
    QVERIFY(must(reader.recipe_values(runs[2].id)).at("optimizer.weight_decay") ==
            storage::Value("0.3"));
  }

  void what_waits_can_be_put_first_taken_out_and_removed() {
    const auto workbench = must(Workbench::open(fixture_->store));
    LaunchRequest long_one = fixture_->request(100000, 5);
    long_one.name = "long";
    const auto first = workbench::launch(workbench->writer(), long_one);
    QVERIFY(first.has_value());
    const auto runs =
        enqueue_sweep(workbench->writer(), fixture_->request(5), {"weight_decay=0.1,0.2,0.3"});
    QCOMPARE(heddle({"queue", "--first", runs[2].name}).exit_code, 0);
    const auto listed = heddle({"queue"});
    QVERIFY2(listed.out.find("1   " + std::to_string(runs[2].id) + "  debug weight_decay=0.3") !=
                 std::string::npos,
             listed.out.c_str());
    QCOMPARE(heddle({"stop", runs[0].name}).out,
             runs[0].name + " has left the queue; it had not begun.\n");
    QVERIFY(state(runs[0]) == RunState::stopped);
    must(workbench::remove(workbench->writer(), fixture_->detail(runs[1].id)));
    QVERIFY(heddle({"queue", "--first", "long"}).err.find("it does not wait") != std::string::npos);
    QVERIFY(state(runs[2]) == RunState::queued);
    must(workbench::kill(fixture_->detail(first->id)));
    QVERIFY(fixture_->ends(runs[2].id));
    QVERIFY(state(runs[2]) == RunState::done);
  }

  void halving_stops_the_worst_and_says_so() {
    const auto workbench = must(Workbench::open(fixture_->store));
    const storage::Halving halving{"loss", {{10, 1}}};
    const auto runs = enqueue_sweep(workbench->writer(), fixture_->request(60, 40),
                                    {"weight_decay=0.1,0.2"}, halving);
    QVERIFY(fixture_->ends(runs[1].id));
    QVERIFY(state(runs[0]) == RunState::done);
    const auto worse = fixture_->detail(runs[1].id).summary;
    QVERIFY(worse.state == RunState::stopped);
    QVERIFY(worse.steps >= 10 && worse.steps < 60);
    auto reader = must(storage::Reader::open(fixture_->store));
    const auto says = [&](storage::RunId run, const std::string& what) {
      const auto lines = must(reader.last_lines(run, 100));
      return std::ranges::count_if(lines, [&](const storage::LogLine& line) {
               return line.text.starts_with("halving at step 10: " + what);
             }) == 1;
    };
    QVERIFY(says(runs[0].id, "goes on"));
    QVERIFY(says(runs[1].id, "stopped"));
  }

  void nothing_is_made_of_a_sweep_with_a_fault() {
    (void)fixture_->request(5);
    const std::string recipe = fixture_->path("debug.toml");
    std::ofstream(recipe) << fixture_->request(5).recipe_text;
    const auto refused = [&](std::vector<std::string> words, const std::string& says) {
      words.insert(words.begin(), {"launch", recipe});
      const auto done = heddle(words);
      QCOMPARE(done.exit_code, 2);
      QVERIFY2(done.err.find(says) != std::string::npos, done.err.c_str());
    };
    refused({"--set", "optimizer.lrr=1e-4,3e-4"}, "(did you mean optimizer.lr)");
    refused({"--set", "lr=1e-4,-1"}, "optimizer.lr: ");
    refused({"--set", "lr=1e-4,3e-4", "--set", "checkpoint.folder=" + fixture_->path("saves")},
            "2 runs would save in");
    refused({"--set", "lr=1e-4,3e-4", "--set", "data.text=[\"none.txt\"]"}, "there is no ");
    refused({"--set", "lr=1e-4,3e-4", "--halving", "lr:1"}, "no metric of a step");
    auto reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(must(reader.runs()).empty());
  }

  void a_sweep_from_the_shell_is_followed_to_its_end() {
    std::ofstream(fixture_->path("debug.toml")) << fixture_->request(10).recipe_text;
    qputenv("HOME", fixture_->folder.path().toUtf8());
    const auto done = heddle({"launch", fixture_->path("debug.toml"), "--set", "lr=1e-4,3e-4",
                              "--at-once", "2", "--wait"});
    QVERIFY2(done.exit_code == 0, (done.out + done.err).c_str());
    QVERIFY2(done.out.starts_with("2 runs wait for this-machine, 2 at a time, as debug:\n"),
             done.out.c_str());
    QVERIFY2(done.out.find("debug lr=3e-4: done after 10 steps, loss 0.800") != std::string::npos,
             done.out.c_str());
    QCOMPARE(heddle({"queue"}).out,
             std::string("No run waits; heddle launch RECIPE --queue makes one wait.\n"));
    // The next sweep is another group.
    const auto next = heddle({"launch", fixture_->path("debug.toml"), "--set", "lr=1e-4,3e-4"});
    QVERIFY2(next.out.find("debug-2 lr=1e-4") != std::string::npos, next.out.c_str());
    QVERIFY2(next.out.find("heddle queue --work") != std::string::npos, next.out.c_str());
  }
};

HEDDLE_TEST(QueueRunsTest)
#include "queue_test.moc"
