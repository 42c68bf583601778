// A run on a host is followed while the workbench is killed, its connections are dropped and its
// cable is cut, again and again: the run goes on, and the store has all it wrote, once.
// HEDDLE_ALL=1: 100 times.
#include <QProcess>
#include <random>

#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class RunKillsTest : public QObject {
  Q_OBJECT

 private:
  enum Fault { workbench_killed, connections_dropped, cable_cut, faults };

  const int kills_ = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 100 : 6;
  std::unique_ptr<test::Sshd> node_;
  std::unique_ptr<RunFixture> fixture_;
  std::mt19937 random_{20261128};

  int pick(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  std::unique_ptr<QProcess> follower() const {
    auto process = std::make_unique<QProcess>();
    process->start(HEDDLE_BINARY_DIR "/follow_driver", {QString::fromStdString(fixture_->store)});
    return process;
  }

  /// The run's directory on the node, as this machine sees it.
  std::string run_dir(storage::RunId run) const {
    const std::string there = fixture_->detail(run).run_dir;
    return node_->node_home() + there.substr(there.find("/.heddle"));
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Sshd::start({.own_network = true});
    if (!started) QSKIP(("no network of its own: " + started.error().message).c_str());
    node_ = std::move(*started);
    qputenv("HOME", node_->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    fixture_ = std::make_unique<RunFixture>();
  }

  void nothing_is_lost_or_doubled() {
    auto workbench = must(Workbench::open(fixture_->store));
    LaunchRequest request = fixture_->request(1'000'000, 10);
    request.target = node_->trusted_target();
    const auto launched = workbench::launch(workbench->writer(), request);
    QVERIFY2(launched, launched ? "" : launched.error().message.c_str());
    const storage::RunId run = launched->id;
    workbench.reset();
    const std::string state = read_file(run_dir(run) + "/state.json");

    std::unique_ptr<QProcess> following = follower();
    int counts[faults] = {};
    for (int kill = 0; kill < kills_; ++kill) {
      // New records come in between, so that each fault has something to interrupt.
      QVERIFY(fixture_->reaches_step(run, fixture_->detail(run).summary.steps + 1));
      QTest::qWait(pick(300));
      const auto fault = static_cast<Fault>(kill % faults);
      ++counts[fault];
      switch (fault) {
        case workbench_killed:
          following->kill();
          QVERIFY(following->waitForFinished());
          QCOMPARE(following->exitStatus(), QProcess::CrashExit);
          following = follower();
          break;
        case connections_dropped:
          node_->drop_connections();
          break;
        default:
          must(node_->cut_cable());
          QTest::qWait(100 + pick(1500));
          must(node_->mend_cable());
      }
      QCOMPARE(fixture_->detail(run).summary.state, RunState::running);
    }
    following->kill();
    QVERIFY(following->waitForFinished());
    // The job is the one that was started.
    QCOMPARE(read_file(run_dir(run) + "/state.json"), state);

    workbench = must(Workbench::open(fixture_->store));
    must(workbench::stop(fixture_->detail(run)));
    QVERIFY(fixture_->ends(run));
    const storage::RunDetail done = fixture_->detail(run);
    QVERIFY2(done.summary.state == RunState::stopped, done.summary.cause.c_str());
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(digests_of_store(reader, run) == digests_of_folder(run_dir(run), 2));
    QVERIFY(must(reader.gaps(run)).empty());
    for (const int32_t rank : {0, 1}) {
      const auto samples = must(reader.samples(run, "loss", rank));
      for (size_t i = 0; i < samples.size(); ++i)
        QCOMPARE(samples[i].step, static_cast<int64_t>(i) + 1);
      if (rank == 0) QCOMPARE(static_cast<int64_t>(samples.size()), done.summary.steps);
    }
    qInfo(
        "%d kills of the workbench, %d of its connections, %d cuts of the cable: %lld steps, once",
        counts[workbench_killed], counts[connections_dropped], counts[cable_cut],
        static_cast<long long>(done.summary.steps));
  }
};

HEDDLE_TEST(RunKillsTest)
#include "run_kills_test.moc"
