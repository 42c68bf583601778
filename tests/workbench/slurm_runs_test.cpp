// Runs as jobs of a real Slurm on this machine: submitted once, watched in the queue, stopped, cut
// off, and all they wrote comes back.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/secret.h"
#include "tests/support/test_class.h"
#include "tests/workbench/slurm_fixture.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class SlurmRunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::Slurm> slurm_;
  std::unique_ptr<SlurmFixture> fixture_;

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Slurm::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Slurm::start();
    if (!started) QSKIP(started.error().message.c_str());  // its daemons, not ours
    slurm_ = std::move(*started);
  }
  void init() { fixture_ = std::make_unique<SlurmFixture>(*slurm_); }
  void cleanup() { fixture_.reset(); }

  void a_run_is_a_job() {
    const auto run = fixture_->launched(fixture_->job_request(50));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.summary.steps, int64_t(50));
    fixture_->verify_complete(run.id, 2);
    // The engine was brought to the shared folder, not used from here.
    QVERIFY(must(place_from_json(done.hosts))
                .shares[0]
                .engine()
                .starts_with(slurm_->target().root + "/engines/"));
    // Nobody finds the secret next to an end.
    QVERIFY(!std::filesystem::exists(done.run_dir + "/job.secret"));
    const std::string job =
        slurm_->ask({"scontrol", "-o", "show", "job", fixture_->job_of(run.id)});
    QVERIFY2(job.find("JobName=heddle-debug ") != std::string::npos, job.c_str());
    QVERIFY2(job.find("JobState=COMPLETED") != std::string::npos, job.c_str());
  }

  // Who launches from inside another job has its variables, which sbatch would hand on to srun:
  // these two are fatal together.
  void a_job_from_inside_a_job() {
    const std::map<std::string, std::string> outer{
        {"SLURM_JOB_ID", "77"},       {"SLURM_NTASKS", "5"},         {"SLURM_CPUS_PER_TASK", "3"},
        {"SLURM_MEM_PER_CPU", "100"}, {"SLURM_MEM_PER_NODE", "200"}, {"SRUN_CPUS_PER_TASK", "3"}};
    for (const auto& [name, value] : outer) qputenv(name.c_str(), value.c_str());
    const auto run = fixture_->launched(fixture_->job_request(5, 1, 2));
    const bool ended = fixture_->ends(run.id);
    for (const auto& [name, value] : outer) qunsetenv(name.c_str());
    QVERIFY(ended);
    const storage::RunSummary done = fixture_->detail(run.id).summary;
    QVERIFY2(done.state == RunState::done, done.cause.c_str());
  }

  // Both begin at once on the same nodes: neither takes the other's port.
  void two_runs_share_the_nodes() {
    std::vector<storage::RunId> runs;
    for (int i = 0; i < 2; ++i)
      runs.push_back(fixture_->launched(fixture_->job_request(50, 5, 2)).id);
    for (const storage::RunId run : runs) {
      QVERIFY(fixture_->ends(run));
      const storage::RunSummary done = fixture_->detail(run).summary;
      QVERIFY2(done.state == RunState::done, done.cause.c_str());
      QCOMPARE(done.steps, int64_t(50));
    }
  }

  void nodes_share_the_ranks() {
    const auto run = fixture_->launched(fixture_->job_request(50, 1, 2));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.ranks, (std::vector<int32_t>{0, 1}));
    const Place place = must(place_from_json(done.hosts));
    QCOMPARE(place.shares.size(), size_t(2));
    for (const Share& share : place.shares) {
      const std::string log = fmt::format("{}/rank-{}.0.hlog", share.run_dir(), share.first_rank);
      QVERIFY2(std::filesystem::exists(log), log.c_str());
    }
    // The second rank's node was told where the first one's ranks are met.
    const auto second = must(runs::read_launch(place.shares[1].run_dir()));
    QCOMPARE(second.rendezvous_host, std::string("127.0.0.1"));
    QVERIFY(second.rendezvous_port != 0);
  }

  void a_waiting_job_says_why_and_begins() {
    const auto run = fixture_->held();
    // Also before anybody has followed it.
    QCOMPARE(fixture_->state(run.id), RunState::waiting);
    QTRY_COMPARE_WITH_TIMEOUT(fixture_->detail(run.id).summary.cause,
                              std::string("waits in train and is held by its user"),
                              RunFixture::kPatience);
    QVERIFY(!fixture_->link(run.id).lost);
    QTRY_VERIFY_WITH_TIMEOUT(fixture_->detail(run.id).environment.contains(storage::kJob),
                             RunFixture::kPatience);
    QCOMPARE(std::get<std::string>(fixture_->detail(run.id).environment.at(storage::kJob)),
             fixture_->job_of(run.id));
    VERIFY_RESULT(change_job(fixture_->detail(run.id), {.hold = JobChange::Hold::release}));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary done = fixture_->detail(run.id).summary;
    QCOMPARE(done.state, RunState::done);
    QCOMPARE(done.cause, std::string());
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(must(reader.links()).empty());
  }

  void a_waiting_job_is_changed() {
    const auto run = fixture_->held();
    const std::string job = fixture_->job_of(run.id);
    const auto change = [&](const JobChange& wanted) {
      return change_job(fixture_->detail(run.id), wanted);
    };
    VERIFY_RESULT(change({.time_limit = "30", .partition = "urgent", .nice = 100}));
    QCOMPARE(fixture_->in_queue(job, "%l %P %y"), std::string("30:00 urgent 100"));
    QTRY_VERIFY_WITH_TIMEOUT(fixture_->detail(run.id).summary.cause.starts_with("waits in urgent"),
                             RunFixture::kPatience);
    VERIFY_SAYS(change({.time_limit = "soon"}), "time limit \"soon\"");
    VERIFY_SAYS(change({.nice = -1}), "nice -1; valid: 0 to 10000");
    VERIFY_SAYS(change({.partition = "nope"}), "Slurm did not change job " + job);
    VERIFY_RESULT(change({.hold = JobChange::Hold::release}));
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(fixture_->state(run.id), RunState::done);
    VERIFY_SAYS(change({.hold = JobChange::Hold::hold}), "it has no job that waits");
    const auto runs = fixture_->launched(fixture_->job_request(9999, 20));
    QVERIFY(fixture_->reaches_step(runs.id, 3));
    VERIFY_SAYS(change_job(fixture_->detail(runs.id), {.time_limit = "30"}),
                "does not wait any more: it runs on n");
    must(workbench::kill(fixture_->detail(runs.id)));
    QVERIFY(fixture_->ends(runs.id));
  }

  void a_waiting_job_is_taken_out() {
    const auto run = fixture_->held();
    const std::string job = fixture_->job_of(run.id);
    QCOMPARE(fixture_->in_queue(job), std::string("PENDING"));
    VERIFY_SAYS(workbench::checkpoint(fixture_->detail(run.id)), "waits in the queue");
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary stopped = fixture_->detail(run.id).summary;
    QCOMPARE(stopped.state, RunState::stopped);
    QCOMPARE(stopped.cause,
             fmt::format("job {} on this-machine: cancelled before it had started", job));
    QCOMPARE(fixture_->in_queue(job), std::string());
  }

  // A second submission, with or without the first answer, returns the same job.
  void a_run_is_submitted_once() {
    const auto run = fixture_->held();
    const storage::RunDetail detail = fixture_->detail(run.id);
    const std::string job = fixture_->job_of(run.id);
    const Place place = must(place_from_json(detail.hosts));
    const auto nodes = connect_all(place.target);
    QVERIFY(nodes);
    const Secret secret = must(Secret::make());
    const auto start_again = [&] {
      return backend_of(place.target)
          .start({.nodes = *nodes,
                  .place = place,
                  .launch = must(runs::read_launch(detail.run_dir)),
                  .begin_with = {},
                  .keeps_checkpoints = true,
                  .secret = secret,
                  .tell = [](const std::string&) { return Result<>{}; }});
    };
    for (const bool answer_lost : {false, true}) {
      if (answer_lost) std::filesystem::remove(detail.run_dir + "/job");
      VERIFY_RESULT(start_again());
      QCOMPARE(fixture_->job_of(run.id), job);
    }
    const std::string comment = "heddle:" + place.shares[0].folder;
    const auto queue = remote::jobs_from(slurm_->ask(remote::squeue_words()));
    QCOMPARE(std::ranges::count(queue, comment, &remote::SlurmJob::comment), 1);
    must(workbench::kill(detail));
    QVERIFY(fixture_->ends(run.id));
  }

  void stop_writes_a_checkpoint_data() {
    QTest::addColumn<int>("nodes");
    QTest::newRow("one node") << 1;
    QTest::newRow("two nodes") << 2;
  }
  void stop_writes_a_checkpoint() {
    QFETCH(int, nodes);
    const auto run = fixture_->launched(fixture_->job_request(100000, 20, nodes));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail stopped = fixture_->detail(run.id);
    QVERIFY2(stopped.summary.state == RunState::stopped, stopped.summary.cause.c_str());
    QCOMPARE(stopped.summary.cause, std::string());
    const std::string saved =
        fmt::format("{}/checkpoints/step-{}", stopped.run_dir, stopped.summary.steps);
    QVERIFY2(std::filesystem::exists(saved), saved.c_str());
  }

  void kill_ends_it_at_once() {
    const auto run = fixture_->launched(fixture_->job_request(100000, 20, 2));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    must(workbench::kill(fixture_->detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail killed = fixture_->detail(run.id);
    QVERIFY2(killed.summary.state == RunState::stopped, killed.summary.cause.c_str());
    QCOMPARE(killed.summary.cause, std::string("killed by the user"));
    QVERIFY(!std::filesystem::exists(killed.run_dir + "/checkpoints"));
  }

  // Somebody's scancel is SIGTERM first: the run keeps what it has trained.
  void a_job_that_is_cancelled_elsewhere() {
    const auto run = fixture_->launched(fixture_->job_request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 3));
    slurm_->ask({"scancel", fixture_->job_of(run.id)});
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail stopped = fixture_->detail(run.id);
    QVERIFY2(stopped.summary.state == RunState::stopped, stopped.summary.cause.c_str());
    QVERIFY(std::filesystem::exists(
        fmt::format("{}/checkpoints/step-{}", stopped.run_dir, stopped.summary.steps)));
    QVERIFY(!std::filesystem::exists(stopped.run_dir + "/job.secret"));
  }

  // Before a job's time limit Slurm sends its steps this signal, and nothing to its script.
  void a_job_whose_time_is_over_goes_on_by_itself_data() {
    QTest::addColumn<int>("nodes");
    QTest::newRow("one node") << 1;
    QTest::newRow("two nodes") << 2;
  }
  void a_job_whose_time_is_over_goes_on_by_itself() {
    QFETCH(int, nodes);
    const auto run = fixture_->launched(fixture_->job_request(400, 20, nodes));
    const std::string job = fixture_->job_of(run.id);
    QVERIFY(fixture_->reaches_step(run.id, 3));
    slurm_->ask({"scancel", "--signal=TERM", job});
    QVERIFY(fixture_->is_put_back(run.id));
    const storage::RunSummary waits = fixture_->detail(run.id).summary;
    QVERIFY2(waits.cause.starts_with("waits in train"), waits.cause.c_str());
    QVERIFY(waits.steps < 400);
    QVERIFY(fixture_->ends(run.id));
    fixture_->verify_went_on(run.id, 400);
    if (nodes == 1) fixture_->verify_complete(run.id, 2);
  }

  // One that gets nowhere is not tried for ever.
  void a_job_without_checkpoints_does_not_go_on() {
    LaunchRequest forgetful = fixture_->job_request(100000, 20);
    forgetful.sets = {"checkpoint.enabled=false"};
    const auto run = fixture_->launched(forgetful);
    QVERIFY(fixture_->reaches_step(run.id, 3));
    slurm_->ask({"scancel", "--signal=TERM", fixture_->job_of(run.id)});
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::stopped);
  }

  // No supervisor could write an end: Slurm's word and the job's last line are the cause.
  void a_job_that_cannot_start() {
    const auto run = fixture_->held();
    const storage::RunDetail detail = fixture_->detail(run.id);
    const std::string engine = must(place_from_json(detail.hosts)).shares[0].engine();
    std::filesystem::remove(engine);
    slurm_->ask({"scontrol", "release", fixture_->job_of(run.id)});
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary failed = fixture_->detail(run.id).summary;
    QCOMPARE(failed.state, RunState::failed);
    const std::string job = fixture_->job_of(run.id);
    for (const std::string& part :
         {fmt::format("job {} on this-machine: Slurm calls it FAILED, exit code 127:0", job),
          std::string("not found"), fmt::format("{}/slurm-{}.out", detail.run_dir, job)})
      QVERIFY2(failed.cause.find(part) != std::string::npos, failed.cause.c_str());
  }

  void faults_are_found_before_data() {
    QTest::addColumn<QString>("partition");
    QTest::addColumn<int>("nodes");
    QTest::addColumn<QString>("words");
    QTest::newRow("no such partition")
        << "nope" << 1 << "no partition nope; valid: train|urgent|closed";
    QTest::newRow("down") << "closed" << 1 << "the partition closed is down";
    QTest::newRow("too many nodes") << "train" << 3 << "asks for 3 nodes, and the partition has 2";
  }
  void faults_are_found_before() {
    QFETCH(QString, partition);
    QFETCH(int, nodes);
    QFETCH(QString, words);
    LaunchRequest bad = fixture_->job_request(5, 1, nodes);
    bad.sets = {fmt::format("hardware.ranks={}", 2 * nodes)};
    bad.target.job->partition = partition.toStdString();
    const auto run = workbench::launch(fixture_->workbench->writer(), bad);
    QVERIFY(!run);
    QVERIFY(run.error().refused && !run.error().run);
    QVERIFY2(run.error().message.find(words.toStdString()) != std::string::npos,
             run.error().message.c_str());
  }

  // Slurm itself refuses: its words are the cause, and nothing waits in the queue.
  void what_sbatch_refuses_is_told() {
    LaunchRequest bad = fixture_->job_request(5);
    bad.target.job->options = {"--dependency=nonsense"};
    const auto run = workbench::launch(fixture_->workbench->writer(), bad);
    QVERIFY(!run);
    QVERIFY2(run.error().message.find("Slurm did not take the job: ") != std::string::npos,
             run.error().message.c_str());
    QVERIFY(run.error().run);
    QCOMPARE(fixture_->detail(*run.error().run).summary.state, RunState::failed);
  }

  void a_removed_run_is_gone_there() {
    const auto run = fixture_->launched(fixture_->job_request(3, 1, 2));
    QVERIFY(fixture_->ends(run.id));
    const Place place = must(place_from_json(fixture_->detail(run.id).hosts));
    must(workbench::remove(fixture_->workbench->writer(), fixture_->detail(run.id)));
    for (const Share& share : place.shares) QVERIFY(!std::filesystem::exists(share.run_dir()));
  }
};

HEDDLE_TEST(SlurmRunsTest)
#include "slurm_runs_test.moc"
