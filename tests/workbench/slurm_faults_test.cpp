// Runs on a real Slurm whose nodes, controller and connections fail.
#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "base/process.h"
#include "base/secret.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/slurm_fixture.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class SlurmFaultsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::Slurm> slurm_;
  std::unique_ptr<SlurmFixture> fixture_;
  std::string stopped_;  // a daemon
  std::string down_;     // a node

  bool all_idle() const {
    return QTest::qWaitFor(
        [&] {
          return slurm_->ask({"sinfo", "-h", "-p", "train", "-o", "%D %T"}) == "2 idle\n";
        },
        RunFixture::kPatience);
  }

  /// Until the case's end; its jobs lose it.
  void set_down(const std::string& node) {
    down_ = node;
    slurm_->ask({"scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=test"});
    slurm_->ask({"scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=test"});
  }

  /// The cluster behind the node's sshd.
  remote::Target behind(const test::Sshd& login) const {
    remote::Target target = slurm_->target();
    const remote::Target node = login.trusted_target();
    target.hosts = node.hosts;
    target.accepted_keys = node.accepted_keys;
    return target;
  }

  std::unique_ptr<test::Sshd> login_node() const {
    auto login = must(test::Sshd::start(
        {.shared = slurm_->folder(),
         .config = "SetEnv SLURM_CONF=" + slurm_->configuration() + "\nMaxStartups 100\n"}));
    qputenv("HOME", login->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    return login;
  }

 private Q_SLOTS:
  void initTestCase() {
    for (const std::string& missing : {test::Slurm::missing(), test::Sshd::missing()})
      if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Slurm::start();
    if (!started) QSKIP(started.error().message.c_str());  // its daemons, not ours
    slurm_ = std::move(*started);
  }
  void init() { fixture_ = std::make_unique<SlurmFixture>(*slurm_); }
  // A case that has failed leaves the next ones the whole cluster.
  void cleanup() {
    fixture_.reset();
    if (!slurm_) return;
    slurm_->ask({"scancel", "--me"});
    if (!stopped_.empty()) slurm_->start_again(std::exchange(stopped_, {}));
    if (!down_.empty())
      slurm_->ask({"scontrol", "update", "NodeName=" + std::exchange(down_, {}), "State=RESUME"});
    QVERIFY(all_idle());
  }

  // A job of higher priority takes both nodes: the run keeps a checkpoint and waits for its turn.
  void a_preempted_run_goes_on() {
    const auto run = fixture_->launched(fixture_->job_request(400, 20));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    const std::string urgent =
        slurm_->ask({"sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--exclusive",
                     "--output=/dev/null", "--wrap=sleep 300"});
    QVERIFY(!urgent.empty());
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->state(run.id), RunState::waiting, RunFixture::kPatience);
    const storage::RunDetail waits = fixture_->detail(run.id);
    QVERIFY(waits.summary.steps >= 3 && waits.summary.steps < 400);
    QVERIFY2(waits.summary.cause.starts_with("waits in train"), waits.summary.cause.c_str());
    // Its ranks may be about to stop.
    QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(waits.run_dir + "/checkpoints"),
                             RunFixture::kPatience);
    slurm_->ask({"scancel", urgent.substr(0, urgent.find('\n'))});
    QVERIFY(fixture_->is_put_back(run.id));
    QVERIFY(fixture_->ends(run.id));
    fixture_->verify_went_on(run.id, 400);
    fixture_->verify_complete(run.id, 2);
    QVERIFY(all_idle());
  }

  // Without its slurmd nobody ends the job's processes there: they see that it begins again. A node
  // that its administrator sets down may be alive: its slurmd brings it back, unless it is drained.
  void a_node_goes_down_data() {
    QTest::addColumn<bool>("is_dead");
    QTest::newRow("dead") << true;
    QTest::newRow("set down") << false;
  }
  void a_node_goes_down() {
    QFETCH(bool, is_dead);
    LaunchRequest request = fixture_->job_request(400, 20);
    request.sets = {"checkpoint.every=5"};
    const auto run = fixture_->launched(request);
    QVERIFY(fixture_->reaches_step(run.id, 10));
    const std::string node = fixture_->in_queue(fixture_->job_of(run.id), "%N");
    if (is_dead) slurm_->stop(stopped_ = "slurmd." + node);
    set_down(node);
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->state(run.id), RunState::waiting, RunFixture::kPatience);
    const std::string why = fixture_->detail(run.id).summary.cause;
    QVERIFY2(why.starts_with("waits in train"), why.c_str());
    QVERIFY(fixture_->is_put_back(run.id));
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->in_queue(fixture_->job_of(run.id)), std::string("RUNNING"),
                              60000);
    QVERIFY(fixture_->in_queue(fixture_->job_of(run.id), "%N") != node);
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.summary.steps, int64_t{400});
    fixture_->verify_complete(run.id, 2);
  }

  // The other node's ranks would wait for the lost one until the time limit.
  void a_part_that_fails_ends_the_run() {
    const auto run = fixture_->launched(fixture_->job_request(9999, 20, 2));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    const Place place = must(place_from_json(fixture_->detail(run.id).hosts));
    must(process::run({.argv = {"pkill", "-KILL", "-f", " rank .*" + place.shares[1].run_dir()}}));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary failed = fixture_->detail(run.id).summary;
    QCOMPARE(failed.state, RunState::failed);
    QVERIFY2(failed.cause.find("rank 1 was killed by SIGKILL") != std::string::npos,
             failed.cause.c_str());
    QVERIFY(all_idle());
  }

  // While nobody answers, nobody says that a run has ended.
  void the_controller_is_away() {
    const auto waits = fixture_->held(), runs = fixture_->launched(fixture_->job_request(9999, 50));
    QVERIFY(fixture_->reaches_step(runs.id, 3));
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->state(runs.id), RunState::running, RunFixture::kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->detail(waits.id).summary.cause,
                              std::string("waits in train and is held by its user"),
                              RunFixture::kPatience);
    slurm_->stop("slurmctld");
    for (const storage::RunId run : {waits.id, runs.id})
      QTRY_VERIFY_WITH_TIMEOUT(fixture_->link(run).reason.find("controller") != std::string::npos,
                               RunFixture::kPatience);
    // Its logs still come.
    const int64_t steps = fixture_->detail(runs.id).summary.steps;
    QVERIFY(fixture_->reaches_step(runs.id, steps + 20));
    QCOMPARE(fixture_->state(runs.id), RunState::running);
    QCOMPARE(fixture_->state(waits.id), RunState::waiting);
    for (const storage::RunId run : {waits.id, runs.id}) QVERIFY(!fixture_->link(run).lost);
    slurm_->start_again("slurmctld");
    for (const storage::RunId run : {waits.id, runs.id})
      QTRY_COMPARE_WITH_TIMEOUT(fixture_->link(run).reason, std::string(), RunFixture::kPatience);
    VERIFY_RESULT(change_job(fixture_->detail(waits.id), {.hold = JobChange::Hold::release}));
    VERIFY_RESULT(workbench::stop(fixture_->detail(runs.id)));
    QVERIFY(fixture_->ends(waits.id));
    QCOMPARE(fixture_->state(waits.id), RunState::done);
    QVERIFY(fixture_->ends(runs.id));
    QCOMPARE(fixture_->state(runs.id), RunState::stopped);
  }

  void a_cluster_behind_ssh() {
    const auto login = login_node();
    LaunchRequest request = fixture_->job_request(9999, 20);
    request.target = behind(*login);
    request.target.job->options = {"--hold"};
    const auto run = fixture_->launched(request);
    QCOMPARE(fixture_->state(run.id), RunState::waiting);
    VERIFY_RESULT(change_job(fixture_->detail(run.id), {.hold = JobChange::Hold::release}));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->state(run.id), RunState::running, RunFixture::kPatience);
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail stopped = fixture_->detail(run.id);
    QVERIFY2(stopped.summary.state == RunState::stopped, stopped.summary.cause.c_str());
    QVERIFY(std::filesystem::exists(
        fmt::format("{}/checkpoints/step-{}", stopped.run_dir, stopped.summary.steps)));
    fixture_->verify_complete(run.id, 2);
  }

  // The connection breaks at any moment of a submission, which is made again until it has an
  // answer. HEDDLE_ALL=1: 200 runs.
  void answers_are_dropped() {
    const int runs = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 200 : 4;
    const auto login = login_node();
    Place place = place_on(behind(*login));
    place.target.job->options = {"--hold"};
    std::mt19937 random(7);
    std::vector<std::string> comments;
    int broken = 0;
    for (int run = 0; run < runs; ++run) {
      const std::string folder = fmt::format("dropped-{}", run);
      comments.push_back("heddle:" + folder);
      place.shares = {{.root = place.target.root,
                       .folder = folder,
                       .engine_id = "none",
                       .first_rank = 0,
                       .local_ranks = 2}};
      const auto nodes = connect_all(place.target);
      QVERIFY(nodes);
      VERIFY_RESULT((*nodes)[0]->make_folders(place.shares[0].run_dir()));
      const std::chrono::milliseconds moment(10 + (run == 0 ? 0 : random() % 240));
      std::thread cut([&] {
        std::this_thread::sleep_for(moment);
        login->drop_connections();
      });
      const auto submit = [&](const Nodes& over) {
        runs::Launch launch;
        launch.run = folder;
        launch.world_size = 2;
        return backend_of(place.target)
            .start({.nodes = over,
                    .place = place,
                    .launch = std::move(launch),
                    .begin_with = {},
                    .keeps_checkpoints = true,
                    .secret = must(Secret::make()),
                    .tell = [](const std::string&) { return Result<>{}; }});
      };
      Result<> submitted = submit(*nodes);
      broken += !(*nodes)[0]->connected();
      cut.join();
      for (int again = 0; !submitted && again < 5; ++again) {
        const auto over = connect_all(place.target);
        QVERIFY(over);
        submitted = submit(*over);
      }
      VERIFY_RESULT(submitted);
    }
    QVERIFY2(broken > 0, "no connection was cut in time");
    const auto queue = remote::jobs_from(slurm_->ask(remote::squeue_words()));
    for (const std::string& comment : comments)
      QCOMPARE(std::ranges::count(queue, comment, &remote::SlurmJob::comment), 1);
    slurm_->ask({"scancel", "--user=root"});
  }
};

HEDDLE_TEST(SlurmFaultsTest)
#include "slurm_faults_test.moc"
