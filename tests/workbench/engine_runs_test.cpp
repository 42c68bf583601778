// The real engine: a small Llama trained on real text, here, on a bare node behind a real sshd, and
// as a job of a real Slurm.
#include <signal.h>

#include <QDirIterator>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/process_id.h"
#include "engine/runs/run_files.h"
#include "remote/connect.h"
#include "tests/support/slurm.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/continuation.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class EngineRunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;
  std::unique_ptr<test::Sshd> node_;  // the engine is brought there once
  std::unique_ptr<test::Slurm> slurm_;
  static constexpr int kManySteps = 300;

  /// Else the test is skipped.
  bool has_slurm() {
    const auto skip = [](const std::string& why) { QSKIP(why.c_str()); };
    if (!slurm_) {
      if (const std::string missing = test::Slurm::missing(); !missing.empty())
        skip(missing);
      else if (auto started = test::Slurm::start(); started)
        slurm_ = std::move(*started);
      else
        skip(started.error().message);  // its daemons, not ours
    }
    return slurm_ != nullptr;
  }

  /// By step.
  std::vector<double> losses_at_end(storage::RunId run) const {
    const bool ended = ends(run);
    const storage::RunSummary done = fixture_->detail(run).summary;
    if (!ended || done.state != RunState::done) return {};
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    std::vector<double> losses;
    for (const auto& sample : must(reader.samples(run, "loss", 0))) losses.push_back(sample.value);
    return losses;
  }

  test::Sshd& node() {
    if (!node_) node_ = must(test::Sshd::start({.own_network = true}));
    qputenv("HOME", node_->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    return *node_;
  }

  LaunchRequest request(int steps) const {
    LaunchRequest request =
        must(request_from_file(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"));
    request.target = fixture_->target();
    request.sets = {fmt::format("training.steps={}", steps), "training.local_batch=1",
                    "schedule.warmup_steps=0", "data.seq_len=32", "telemetry.profile_every=2"};
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  /// The same with a text that nobody has tokenized.
  LaunchRequest request_of_new_text(int steps) const {
    LaunchRequest request = this->request(steps);
    const std::string text = fixture_->path("new.txt");
    std::filesystem::copy_file(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt", text,
                               std::filesystem::copy_options::skip_existing);
    request.sets.push_back(fmt::format("data.text=[\"{}\"]", text));
    return request;
  }

  /// Whether a text was tokenized where the run is; `home`: the node's, as this machine sees it.
  static bool tokenized(const std::string& run_dir, const std::string& home = {}) {
    const std::string folder =
        home.empty() ? run_dir : home + run_dir.substr(run_dir.find("/.heddle"));
    if (!std::filesystem::exists(folder + "/recipe.toml")) qFatal("no run in %s", folder.c_str());
    return std::filesystem::exists(folder + "/tokenize.err");
  }

  bool ends(storage::RunId run) const {
    return QTest::qWaitFor([&] { return storage::has_ended(fixture_->detail(run).summary.state); },
                           RunFixture::kPatience);
  }

  bool reaches_step(storage::RunId run, int64_t step) const {
    return QTest::qWaitFor([&] { return fixture_->detail(run).summary.steps >= step; },
                           RunFixture::kPatience);
  }

 private Q_SLOTS:
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    use_engine(HEDDLE_BINARY_DIR "/heddle-engine");
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
    const auto status = must(heddle::runs::read_status(fixture_->detail(run.id).run_dir));
    ::kill(status.state->ranks[1].process.pid, SIGKILL);
    QVERIFY(ends(run.id));
    const storage::RunSummary failed = fixture_->detail(run.id).summary;
    QCOMPARE(failed.state, RunState::failed);
    QVERIFY2(failed.cause.starts_with("rank 1 was killed by SIGKILL"), failed.cause.c_str());
    QCOMPARE(identify(status.state->ranks[0].process.pid), ProcessId{});
    fixture_->verify_complete(run.id, 2);
  }

  // The store has each step once, and says how often the run was restarted, and why.
  void a_killed_rank_does_not_end_a_run_that_may_restart() {
    LaunchRequest often = request(40);
    often.sets.insert(often.sets.end(),
                      {"checkpoint.every=3", "restart.times=2", "restart.backoff=0"});
    const auto run = launched(often);
    const std::string run_dir = fixture_->detail(run.id).run_dir;
    for (const int64_t step : {5, 12}) {
      QVERIFY(reaches_step(run.id, step));
      const auto ranks = must(heddle::runs::read_status(run_dir)).state->ranks;
      ::kill(ranks[1].process.pid, SIGKILL);
      QVERIFY(QTest::qWaitFor(
          [&] {
            return !(must(heddle::runs::read_status(run_dir)).state->ranks[0].process ==
                     ranks[0].process);
          },
          RunFixture::kPatience));
    }
    QVERIFY(ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.summary.steps, int64_t(40));
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    for (int32_t rank : {0, 1}) {
      const auto samples = must(reader.samples(run.id, "loss", rank));
      QCOMPARE(samples.size(), size_t(40));
      for (size_t i = 0; i < samples.size(); ++i) QCOMPARE(samples[i].step, int64_t(i) + 1);
    }
    QCOMPARE(must(reader.steps_after(run.id, 0)).size(), size_t(80));
    const std::string says = describe_restarts(done);
    QVERIFY2(says.starts_with("restarted 2 times, last after: rank 1 was killed by SIGKILL"),
             says.c_str());
    std::string log;
    for (const storage::LogLine& line : must(reader.lines_after(run.id, 0)))
      log += line.text + '\n';
    for (const char* part : {"restart 1 of 2 in ", "restart 2 of 2 in ", "goes on after step ",
                             "the log keeps their first numbers"})
      QVERIFY2(log.find(part) != std::string::npos, log.c_str());
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

  // A fork and a resume learn what the run would have learnt, to the last bit.
  void a_fork_and_a_resume_go_on_as_if_nothing_had_been() {
    LaunchRequest first = request(6);
    first.sets.insert(first.sets.end(), {"schedule.decay=none", "checkpoint.every=3"});
    const auto whole = launched(first);
    QVERIFY(ends(whole.id));
    const storage::RunDetail parent = fixture_->detail(whole.id);
    QVERIFY2(parent.summary.state == RunState::done, parent.summary.cause.c_str());
    const auto go_on = [&](storage::Lineage::Kind kind, const std::string& checkpoint,
                           const std::string& steps) {
      storage::Reader reader = must(storage::Reader::open(fixture_->store));
      Continuation plan = must(plan_continuation(
          reader, {.kind = kind, .parent = parent, .checkpoint = checkpoint, .sets = {steps}}));
      return launched(plan.launch);
    };
    const auto losses = [&](storage::RunId run) {
      storage::Reader reader = must(storage::Reader::open(fixture_->store));
      std::vector<std::pair<int64_t, double>> losses;
      for (const storage::Sample& sample : must(reader.samples(run, "loss", 0)))
        if (sample.step > 3) losses.emplace_back(sample.step, sample.value);
      return losses;
    };
    const auto fork = go_on(storage::Lineage::Kind::fork, "3", "training.steps=6");
    QVERIFY(ends(fork.id));
    QCOMPARE(losses(fork.id).size(), size_t(3));
    QVERIFY(losses(fork.id) == losses(whole.id));

    // A byte of the newest that only its reader can find: the ranks take the one before, and say
    // so.
    const std::string newest = parent.run_dir + "/checkpoints/step-6/rank-1.safetensors";
    std::fstream shard(newest, std::ios::in | std::ios::out | std::ios::binary);
    shard.seekp(-1000, std::ios::end);
    shard.put(77);
    shard.close();
    const auto resumed = go_on(storage::Lineage::Kind::resume, "", "training.steps=7");
    QVERIFY(ends(resumed.id));
    const auto seven = losses(resumed.id);
    QCOMPARE(seven.size(), size_t(4));
    for (size_t i = 0; i < 3; ++i) QVERIFY(seven[i] == losses(whole.id)[i]);
    std::string log;
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    for (const storage::LogLine& line : must(reader.lines_after(resumed.id, 0)))
      log += line.text + '\n';
    for (const char* part :
         {"step-6/rank-1.safetensors: damaged: bytes", "goes on after step 3 from"})
      QVERIFY2(log.find(part) != std::string::npos, log.c_str());
  }

  void a_run_on_a_bare_node() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    LaunchRequest there = request(100000);
    there.target = node().trusted_target();
    const auto run = launched(there);
    QVERIFY(reaches_step(run.id, 1));

    // Its ranks run from what was brought there and from the system's files, and nothing else.
    auto connected = remote::connect(there.target, there.target.hosts[0]);
    QVERIFY(connected);
    const storage::RunDetail detail = fixture_->detail(run.id);
    const auto state = must((*connected)->read(detail.run_dir + "/state.json"));
    const auto pid = nlohmann::json::parse(state)["ranks"][1]["pid"].get<int>();
    const std::string maps =
        must((*connected)->run_checked({.argv = {"cat", fmt::format("/proc/{}/maps", pid)}}));
    const std::string home = must((*connected)->home()) + "/.heddle/";
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

    // So does what reads Parquet, where it is built.
    if (std::filesystem::exists(HEDDLE_BINARY_DIR "/libheddle_parquet.so")) {
      must((*connected)->put_bytes("no Parquet", "/root/bad.parquet", 0600));
      const Share share = must(place_from_json(detail.hosts)).shares[0];
      const auto read = must(
          (*connected)
              ->run({.argv = {share.engine(), "tokenize-corpus", share.run_dir() + "/recipe.toml",
                              "--set", "data.text=[\"/root/bad.parquet\"]"}}));
      QVERIFY2(read.err.find("/root/bad.parquet: ") != std::string::npos &&
                   read.err.find("plug-in") == std::string::npos,
               read.err.c_str());
    }

    must(workbench::stop(detail));
    QVERIFY(ends(run.id));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::stopped);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const std::string local =
        node().node_home() + detail.run_dir.substr(detail.run_dir.find("/.heddle"));
    QVERIFY(digests_of_store(reader, run.id) == digests_of_folder(local, 2));
  }

  // A text that was tokenized here is not tokenized again on a host, and trains to the same bits.
  void finished_tokens_go_to_a_host() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    LaunchRequest wanted = request_of_new_text(4);
    const auto here = launched(wanted);
    const std::vector<double> losses = losses_at_end(here.id);
    QCOMPARE(losses.size(), size_t(4));
    QVERIFY(tokenized(fixture_->detail(here.id).run_dir));
    wanted.target = node().trusted_target();
    const auto there = launched(wanted);
    QVERIFY(losses_at_end(there.id) == losses);
    QVERIFY(!tokenized(fixture_->detail(there.id).run_dir, node().node_home()));
  }

  // Where its ranks run makes no difference to what they learn; nor, but for rounding, how the work
  // is laid out over them.
  void a_run_as_a_job_of_slurm_data() {
    QTest::addColumn<QStringList>("there");
    QTest::addColumn<QStringList>("here");
    QTest::addColumn<double>("most");  // that a loss may differ by
    QTest::newRow("two ranks") << QStringList() << QStringList() << 0.0;
    QTest::newRow("pp 2 dp 2, as one process")
        << QStringList({"hardware.ranks=4", "parallelism.pp=2", "parallelism.microbatches=2",
                        "training.local_batch=2"})
        << QStringList({"hardware.ranks=1", "training.local_batch=4"}) << 1e-4;
  }
  void a_run_as_a_job_of_slurm() {
    QFETCH(QStringList, there);
    QFETCH(QStringList, here);
    QFETCH(double, most);
    if (!has_slurm()) return;
    const auto losses_of = [&](const remote::Target& target, const QStringList& sets) {
      LaunchRequest wanted = request(4);
      wanted.target = target;
      for (const QString& set : sets) wanted.sets.push_back(set.toStdString());
      return losses_at_end(launched(wanted).id);
    };
    const auto job_losses = losses_of(slurm_->target(2), there);
    const auto losses = losses_of(fixture_->target(), here);
    QCOMPARE(losses.size(), size_t(4));
    QCOMPARE(job_losses.size(), losses.size());
    for (size_t i = 0; i < losses.size(); ++i)
      QVERIFY2(std::abs(job_losses[i] - losses[i]) <= most,
               fmt::format("{} {}", job_losses[i], losses[i]).c_str());
  }

  // Cut off three times, it learns what it would have learned without.
  void a_job_put_back_three_times() {
    if (!has_slurm()) return;
    LaunchRequest there = request(kManySteps);
    there.target = slurm_->target();
    const auto run = launched(there);
    std::string job = read_file(fixture_->detail(run.id).run_dir + "/job");
    job.resize(job.find('\n'));
    const auto state_is = [&](RunState state) {
      return QTest::qWaitFor([&] { return fixture_->detail(run.id).summary.state == state; },
                             RunFixture::kPatience);
    };
    for (int time = 0; time < 3; ++time) {
      QVERIFY(reaches_step(run.id, fixture_->detail(run.id).summary.steps + 2));
      slurm_->ask({"scancel", "--signal=TERM", job});
      QVERIFY(state_is(RunState::waiting));
      QVERIFY(fixture_->detail(run.id).summary.steps < kManySteps);
      slurm_->ask({"scontrol", "update", "JobId=" + job, "StartTime=now"});
    }
    const std::vector<double> losses = losses_at_end(run.id);
    QCOMPARE(losses.size(), static_cast<size_t>(kManySteps));
    QVERIFY(losses == losses_at_end(launched(request(kManySteps)).id));
  }

  void a_run_on_two_hosts() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    test::Sshd& first = node();
    const auto second = must(test::Sshd::start({.own_network = true}));
    second->let_in(first.user_home() + "/.ssh/id_ed25519.pub");
    LaunchRequest there = request_of_new_text(4);
    there.target = first.trusted_target();
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
    const Place place = must(place_from_json(apart.hosts));
    for (const auto& [host, rank] : {std::pair(&first, 0), std::pair(second.get(), 1)}) {
      const std::string run_dir = place.shares[rank].run_dir();
      QStringList logs;
      QDirIterator files(
          QString::fromStdString(host->node_home() + run_dir.substr(run_dir.find("/.heddle"))),
          {"rank-*.hlog"}, QDir::Files, QDirIterator::Subdirectories);
      while (files.hasNext()) logs << QFileInfo(files.next()).fileName();
      QCOMPARE(logs, QStringList(QString("rank-%1.0.hlog").arg(rank)));
      // The text was tokenized once, here, for both.
      QVERIFY(!tokenized(run_dir, host->node_home()));
    }
    LaunchRequest alone = there;
    alone.target = fixture_->target();
    const auto here = launched(alone);
    QVERIFY(losses_at_end(here.id) == losses_at_end(run.id));
    QVERIFY(!tokenized(fixture_->detail(here.id).run_dir));

    // Ranks that are killed on either host start again on both.
    LaunchRequest often = there;
    often.sets[0] = "training.steps=120";
    often.sets.insert(often.sets.end(),
                      {"checkpoint.every=3", "restart.times=2", "restart.backoff=0"});
    const auto disturbed = launched(often);
    const Place parts = must(place_from_json(fixture_->detail(disturbed.id).hosts));
    const auto kill_rank = [&](const test::Sshd& host, size_t rank) {
      const auto connection = host.connected();
      const auto state = nlohmann::json::parse(
          must(connection->read(parts.shares[rank].run_dir() + "/state.json")));
      must(connection->run_checked({.argv = {"kill", "-KILL", state["ranks"][0]["pid"].dump()}}));
    };
    QVERIFY(reaches_step(disturbed.id, 5));
    kill_rank(*second, 1);
    QVERIFY(reaches_step(disturbed.id, 15));
    kill_rank(first, 0);
    QVERIFY(ends(disturbed.id));
    const storage::RunDetail survived = fixture_->detail(disturbed.id);
    QVERIFY2(survived.summary.state == RunState::done, survived.summary.cause.c_str());
    const std::string says = describe_restarts(survived);
    QVERIFY2(says.starts_with("restarted 2 times, last after: rank 0 was killed by SIGKILL"),
             says.c_str());
    QCOMPARE(losses_at_end(disturbed.id).size(), size_t(120));  // each step once
  }

  // The hosts share their root: the one that is left sees all of the last checkpoint.
  void a_run_goes_on_without_a_lost_host() {
    if (!qEnvironmentVariableIsSet("HEDDLE_ALL")) QSKIP("two minutes: with HEDDLE_ALL=1");
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const std::string shared = fixture_->path("shared");
    std::filesystem::create_directories(shared);
    const auto first = must(test::Sshd::start({.own_network = true, .shared = shared}));
    const auto second = must(test::Sshd::start({.own_network = true, .shared = shared}));
    second->let_in(first->user_home() + "/.ssh/id_ed25519.pub");
    qputenv("HOME", first->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
    LaunchRequest there = request(kManySteps);
    there.sets.emplace_back("checkpoint.every=5");
    there.target = first->trusted_target();
    there.target.root = shared + "/heddle";
    const remote::Target other = second->trusted_target();
    there.target.hosts.push_back(other.hosts[0]);
    there.target.hosts[1].name = "other";
    there.target.accepted_keys.push_back(other.accepted_keys[0]);
    const auto run = launched(there);
    QVERIFY(reaches_step(run.id, 12));
    second->stop();
    QVERIFY(ends(run.id));
    const storage::RunDetail lost = fixture_->detail(run.id);
    QCOMPARE(lost.summary.state, RunState::lost);
    QVERIFY2(lost.summary.cause.starts_with("other is lost: "), lost.summary.cause.c_str());

    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    Continuation plan = must(plan_continuation(
        reader, {.kind = storage::Lineage::Kind::resume, .parent = lost, .without = {"other"}}));
    QCOMPARE(plan.launch.target.hosts.size(), size_t(1));
    const auto fewer = launched(plan.launch);
    const std::vector<double> losses = losses_at_end(fewer.id);
    QCOMPARE(static_cast<int64_t>(losses.size()), kManySteps - plan.from.step);
    QCOMPARE(fixture_->detail(fewer.id).ranks, (std::vector<int32_t>{0}));

    // The same layout, from the same checkpoint, here.
    LaunchRequest here = plan.launch;
    here.target = fixture_->target();
    const std::vector<double> expected = losses_at_end(launched(here).id);
    QCOMPARE(expected.size(), losses.size());
    double most = 0;
    for (size_t i = 0; i < losses.size(); ++i)
      most = std::max(most, std::abs(losses[i] - expected[i]));
    qInfo("from step %lld on with one rank of two: losses differ by %.2g at most",
          static_cast<long long>(plan.from.step), most);
    QVERIFY(most <= 1e-4);
  }
};

HEDDLE_TEST(EngineRunsTest)
#include "engine_runs_test.moc"
