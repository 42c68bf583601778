// The real engine: a small Llama trained on real text, here and on a bare node behind a real sshd.
#include <signal.h>

#include <QDirIterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/launch/run_files.h"
#include "remote/connect.h"
#include "tests/support/sshd.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class EngineRunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;

  LaunchRequest request(int steps) const {
    LaunchRequest request =
        must(request_from_file(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"));
    request.target = fixture_->target();
    request.engine = HEDDLE_BINARY_DIR "/heddle-engine";
    request.sets = {fmt::format("training.steps={}", steps), "training.local_batch=1",
                    "schedule.warmup_steps=0", "data.seq_len=32", "telemetry.profile_every=2"};
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  bool ends(storage::RunId run) const {
    return QTest::qWaitFor([&] { return storage::has_ended(fixture_->detail(run).summary.state); },
                           240000);
  }

  bool reaches_step(storage::RunId run, int64_t step) const {
    return QTest::qWaitFor([&] { return fixture_->detail(run).summary.steps >= step; }, 240000);
  }

 private Q_SLOTS:
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    workbench_ = must(Workbench::open(fixture_->store));
  }
  void cleanup() {
    workbench_.reset();
    fixture_.reset();
  }

  void a_run_here() {
    const auto run = launched(request(4));
    QVERIFY(ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.summary.steps, int64_t(4));
    // An untrained model knows nothing of 4,096 tokens: ln 4096 = 8.3, more or less.
    QVERIFY(done.summary.loss && *done.summary.loss > 6 && *done.summary.loss < 11);
    QVERIFY(done.results.contains("peak_bytes"));
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(!must(reader.profiled_steps(run.id)).empty());
    fixture_->verify_complete(run.id, 2);
  }

  void a_killed_rank_fails_the_run() {
    const auto run = launched(request(100000));
    QVERIFY(reaches_step(run.id, 1));
    const auto status = must(heddle::launch::read_status(fixture_->detail(run.id).run_dir));
    ::kill(status.state->ranks[1].process.pid, SIGKILL);
    QVERIFY(ends(run.id));
    const storage::RunSummary failed = fixture_->detail(run.id).summary;
    QCOMPARE(failed.state, RunState::failed);
    QVERIFY2(failed.cause.starts_with("rank 1 was killed by SIGKILL"), failed.cause.c_str());
    QCOMPARE(heddle::launch::identify(status.state->ranks[0].process.pid),
             heddle::launch::ProcessId{});
    fixture_->verify_complete(run.id, 2);
  }

  void stop_ends_it_after_its_step() {
    const auto run = launched(request(100000));
    QVERIFY(reaches_step(run.id, 1));
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(ends(run.id));
    const storage::RunSummary stopped = fixture_->detail(run.id).summary;
    QVERIFY2(stopped.state == RunState::stopped, stopped.cause.c_str());
    QCOMPARE(stopped.cause, std::string());
    fixture_->verify_complete(run.id, 2);
  }

  void a_run_on_a_bare_node() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const auto sshd = must(test::Sshd::start());
    qputenv("HOME", sshd->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    LaunchRequest there = request(100000);
    there.target = sshd->trusted_target();
    const auto run = launched(there);
    QVERIFY(reaches_step(run.id, 1));

    // Its ranks run from what was brought there and from the system's files, and nothing else.
    auto node = remote::connect(there.target, there.target.hosts[0]);
    QVERIFY(node);
    const storage::RunDetail detail = fixture_->detail(run.id);
    const auto state = must((*node)->read(detail.run_dir + "/state.json"));
    const auto pid = nlohmann::json::parse(state)["ranks"][1]["pid"].get<int>();
    const std::string maps =
        must((*node)->run_checked({.argv = {"cat", fmt::format("/proc/{}/maps", pid)}}));
    const std::string home = must((*node)->home()) + "/.heddle/";
    int brought = 0;
    std::istringstream lines(maps);
    for (std::string line; std::getline(lines, line);) {
      const size_t slash = line.find('/');
      if (slash == std::string::npos) continue;
      const std::string file = line.substr(slash);
      const bool is_brought = file.starts_with(home);
      brought += is_brought;
      const bool is_system = file.starts_with("/usr/lib/") || file.starts_with("/lib") ||
                             file.starts_with("/dev/") || file.starts_with("/memfd:");
      QVERIFY2(is_brought || is_system, file.c_str());
    }
    QVERIFY(brought > 0);
    QVERIFY(maps.find(home) < maps.find("libtorch_cpu.so"));

    must(workbench::stop(detail));
    QVERIFY(ends(run.id));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::stopped);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const std::string local =
        sshd->node_home() + detail.run_dir.substr(detail.run_dir.find("/.heddle"));
    QVERIFY(digests_of_store(reader, run.id) == digests_of_folder(local, 2));
  }

  void a_run_on_two_hosts() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const auto first = must(test::Sshd::start({.own_network = true}));
    const auto second = must(test::Sshd::start({.own_network = true}));
    second->let_in(first->user_home() + "/.ssh/id_ed25519.pub");
    qputenv("HOME", first->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    LaunchRequest there = request(4);
    there.target = first->trusted_target();
    const remote::Target other = second->trusted_target();
    there.target.hosts.push_back(other.hosts[0]);
    there.target.hosts[1].name = "other";
    there.target.accepted_keys.push_back(other.accepted_keys[0]);
    const auto run = launched(there);
    QVERIFY(ends(run.id));
    const storage::RunDetail apart = fixture_->detail(run.id);
    QVERIFY2(apart.summary.state == RunState::done, apart.summary.cause.c_str());
    QCOMPARE(apart.summary.steps, int64_t(4));

    // A rank on each, and where they run makes no difference to what they learn.
    for (const auto& [host, rank] : {std::pair(first.get(), 0), std::pair(second.get(), 1)}) {
      QStringList logs;
      QDirIterator files(QString::fromStdString(host->node_home() + "/.heddle/runs"),
                         {"rank-*.hlog"}, QDir::Files, QDirIterator::Subdirectories);
      while (files.hasNext()) logs << QFileInfo(files.next()).fileName();
      QCOMPARE(logs, QStringList(QString("rank-%1.0.hlog").arg(rank)));
    }
    const auto here = launched(request(4));
    QVERIFY(ends(here.id));
    QCOMPARE(*apart.summary.loss, *fixture_->detail(here.id).summary.loss);
  }
};

QTEST_GUILESS_MAIN(EngineRunsTest)
#include "engine_runs_test.moc"
