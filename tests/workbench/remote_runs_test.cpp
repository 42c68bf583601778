// Runs on hosts behind a real sshd: the engine and the input files are brought there, the run
// survives a lost connection, and all it wrote comes back.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "remote/connect.h"
#include "storage/clock.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

namespace {

/// Every connection to the node, this one too.
Result<remote::Completed> cut_connections(remote::Node& node) {
  return node.run(
      {.argv = {"/bin/sh", "-c",
                "for p in /proc/[0-9]*; do"
                "  if grep -q '^sshd: root' $p/cmdline; then kill -KILL ${p#/proc/}; fi; "
                "done"}});
}

}  // namespace

class RemoteRunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::Sshd> sshd_;
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;

  LaunchRequest request(int steps, int pace = 1) const {
    LaunchRequest request = fixture_->request(steps, pace);
    request.target = sshd_->trusted_target();
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  /// The preflight's finding of this name.
  std::string finding(const LaunchRequest& request, const std::string& name) const {
    const auto findings = check_launch(fixture_->store, request);
    if (!findings) qFatal("%s", findings.error().message.c_str());
    for (const Finding& finding : *findings)
      if (finding.name == name) return finding.line();
    return "no finding " + name;
  }

  /// The run's directory on the node, as this machine sees it.
  std::string run_dir(storage::RunId run) const {
    const std::string there = fixture_->detail(run).run_dir;
    return sshd_->node_home() + there.substr(there.find("/.heddle"));
  }

  void verify_complete(storage::RunId run) const {
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(digests_of_store(reader, run) == digests_of_folder(run_dir(run), 2));
    QVERIFY(must(reader.gaps(run)).empty());
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Sshd::start();
    QVERIFY2(started, started ? "" : started.error().message.c_str());
    sshd_ = std::move(*started);
    qputenv("HOME", sshd_->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");
  }
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    workbench_ = must(Workbench::open(fixture_->store));
  }
  void cleanup() {
    workbench_.reset();
    fixture_.reset();
  }

  void a_run_goes_there_and_comes_back() {
    const auto disk_says = finding(request(50), "disk");
    QVERIFY2(disk_says.find("to bring there") != std::string::npos, disk_says.c_str());
    const auto run = launched(request(50));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail detail = fixture_->detail(run.id);
    QCOMPARE(detail.summary.state, RunState::done);
    QCOMPARE(detail.summary.steps, int64_t(50));
    verify_complete(run.id);
    // The files that the recipe reads are there by content, and the recipe says so.
    const recipe::Parsed there = recipe::parse_file(run_dir(run.id) + "/recipe.toml");
    QVERIFY(there.ok());
    const std::string text = there.recipe.data.text[0];
    QVERIFY2(text.find("/.heddle/blobs/") != std::string::npos, text.c_str());
    QCOMPARE(read_file(sshd_->node_home() + text.substr(text.find("/.heddle"))),
             std::string("To be, or not to be.\n"));
    // While the store keeps the paths of this machine.
    QVERIFY(detail.recipe.find(fixture_->path("corpus.txt")) != std::string::npos);
  }

  void a_second_launch_uploads_nothing() {
    const LaunchRequest again = request(3);
    QVERIFY(fixture_->ends(launched(again).id));
    const auto disk_says = finding(again, "disk");
    QVERIFY2(disk_says.find("to bring there") == std::string::npos, disk_says.c_str());
    uint64_t sent = 0;
    const auto run = workbench::launch(
        workbench_->writer(), again,
        [&](const std::string&, uint64_t done, uint64_t) { return (sent += done, true); });
    QVERIFY(run);
    QCOMPARE(sent, uint64_t(0));
    QVERIFY(fixture_->ends(run->id));
  }

  void an_unknown_host_key_is_shown() {
    LaunchRequest unknown = request(3);
    unknown.target = sshd_->target();
    const auto run = workbench::launch(workbench_->writer(), unknown);
    QVERIFY(!run);
    QVERIFY(run.error().connection);
    QCOMPARE(run.error().connection->kind, remote::ConnectError::Kind::host_key_unknown);
    QCOMPARE(run.error().connection->key.fingerprint, sshd_->fingerprint());
    // Nothing was begun, so there is no run.
    QVERIFY(run.error().refused && !run.error().run);
  }

  void hosts_share_the_ranks() {
    LaunchRequest two = request(50);
    two.target.hosts.push_back(two.target.hosts[0]);
    const auto run = launched(two);
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail done = fixture_->detail(run.id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    QCOMPARE(done.ranks, (std::vector<int32_t>{0, 1}));
    const Place place = must(place_from_json(done.hosts));
    QCOMPARE(place.shares.size(), size_t(2));
    QCOMPARE(place.shares[1].first_rank, 1);
    QVERIFY(place.shares[0].run_dir() != place.shares[1].run_dir());

    // Ranks that do not divide are the recipe's fault.
    two.sets = {"hardware.ranks=3"};
    const auto odd = workbench::launch(workbench_->writer(), two);
    QVERIFY(!odd);
    QVERIFY2(odd.error().message.find("hardware.ranks: 3 do not divide among the 2 hosts") !=
                 std::string::npos,
             odd.error().message.c_str());
  }

  void a_rank_that_dies_on_one_host_ends_all() {
    LaunchRequest two = request(100000, 20);
    two.target.hosts.push_back(two.target.hosts[0]);
    const auto run = launched(two);
    QVERIFY(fixture_->reaches_step(run.id, 1));
    const Place place = must(place_from_json(fixture_->detail(run.id).hosts));
    auto node = remote::connect(two.target, two.target.hosts[1]);
    QVERIFY(node);
    const auto state =
        nlohmann::json::parse(must((*node)->read(place.shares[1].run_dir() + "/state.json")));
    must((*node)->run_checked({.argv = {"kill", "-KILL", state["ranks"][0]["pid"].dump()}}));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary failed = fixture_->detail(run.id).summary;
    QCOMPARE(failed.state, RunState::failed);
    QVERIFY2(failed.cause.starts_with("rank 1 was killed by SIGKILL after step "),
             failed.cause.c_str());
  }

  void a_removed_run_is_gone_there() {
    const auto run = launched(request(3));
    QVERIFY(fixture_->ends(run.id));
    const std::string there = run_dir(run.id);
    QVERIFY(std::filesystem::exists(there + "/end.json"));
    must(workbench::remove(workbench_->writer(), fixture_->detail(run.id)));
    QVERIFY(!std::filesystem::exists(there));
  }

  void a_lost_connection_is_made_again() {
    const auto run = launched(request(300, 20));
    QVERIFY(fixture_->reaches_step(run.id, 1));
    // Every connection to the node is cut; the run does not notice.
    const remote::Target target = sshd_->trusted_target();
    auto node = remote::connect(target, target.hosts[0]);
    QVERIFY(node);
    const auto cut = cut_connections(**node);
    QVERIFY(!cut || cut->exit_code != 0);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::done);
    verify_complete(run.id);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const auto count = [&](const std::string& ending) {
      const auto lines = must(reader.lines_after(run.id, 0));
      return std::count_if(lines.begin(), lines.end(),
                           [&](const auto& line) { return line.text.ends_with(ending); });
    };
    QCOMPARE(count("; trying again"), 1);
    QTRY_COMPARE(count("following again"), 1);
  }

  // Only silence shows a cut cable; every page shows what the store says of it.
  void a_cut_cable_is_told_until_it_is_mended() {
    test::SshdOptions options;
    options.own_network = true;
    auto node = test::Sshd::start(options);
    if (!node) QSKIP(("no network of its own: " + node.error().message).c_str());
    std::filesystem::copy(sshd_->user_home() + "/.ssh/id_ed25519.pub", fixture_->path("key.pub"));
    (*node)->let_in(fixture_->path("key.pub"));
    LaunchRequest far = fixture_->request(100000, 20);
    far.target = (*node)->trusted_target();
    const auto run = launched(far);
    QVERIFY(fixture_->reaches_step(run.id, 3));
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const auto link = [&] {
      const auto links = must(reader.links());
      const auto found = links.find(run.id);
      return found == links.end() ? storage::Link{} : found->second;
    };
    QTRY_VERIFY(link().heard > 0);
    QVERIFY(!link().lost);
    const double before = link().heard;
    QTRY_VERIFY(link().heard > before);  // it is kept up to date

    must((*node)->cut_cable());
    QTRY_VERIFY_WITH_TIMEOUT(link().lost, RunFixture::kPatience);
    const storage::Link lost = link();
    QVERIFY(lost.heard <= *lost.lost && *lost.next_try > *lost.lost);
    QVERIFY2(lost.reason.find("node: ") == 0, lost.reason.c_str());
    QTRY_VERIFY_WITH_TIMEOUT(*link().next_try > *lost.next_try,
                             RunFixture::kPatience);  // it tries again
    QCOMPARE(link().lost, lost.lost);
    QCOMPARE(link().heard, lost.heard);
    const int64_t step = fixture_->detail(run.id).summary.steps;

    must((*node)->mend_cable());
    QTRY_VERIFY_WITH_TIMEOUT(!link().lost, RunFixture::kPatience);
    QVERIFY(link().heard > lost.heard);
    QVERIFY(fixture_->reaches_step(run.id, step + 1));
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    QVERIFY(must(reader.links()).empty());
    QVERIFY(must(reader.gaps(run.id)).empty());
  }

  // Its records are by its own clock; the run's times are by ours, and its duration by one of them.
  void a_host_whose_clock_is_off_data() {
    QTest::addColumn<int>("ahead");
    QTest::newRow("3 h behind") << -3 * 3600;
    QTest::newRow("a day ahead") << 24 * 3600;
  }
  void a_host_whose_clock_is_off() {
    QFETCH(int, ahead);
    const QTemporaryDir files;
    std::filesystem::copy(HEDDLE_SKEWED_CLOCK, files.filePath("clock.so").toStdString());
    test::SshdOptions options;
    options.files = files.path().toStdString();
    options.config =
        fmt::format("SetEnv LD_PRELOAD=/sshd/clock.so HEDDLE_TEST_CLOCK_AHEAD={}\n", ahead);
    const auto node = must(test::Sshd::start(options));
    node->let_in(sshd_->user_home() + "/.ssh/id_ed25519.pub");
    LaunchRequest there = fixture_->request(40, 50);
    there.target = node->trusted_target();
    const double before = unix_now();
    const auto run = launched(there);
    QVERIFY(fixture_->ends(run.id));
    const double after = unix_now();
    const storage::RunDetail detail = fixture_->detail(run.id);
    QVERIFY2(detail.summary.state == RunState::done, detail.summary.cause.c_str());
    const double kept = std::get<double>(detail.environment.at(storage::kClockAhead));
    QVERIFY2(std::abs(kept - ahead) < 60, fmt::format("{}", kept).c_str());
    const auto took = storage::seconds_taken(detail.summary);
    QVERIFY(took);
    QVERIFY2(*took >= 2 && *took <= after - before, fmt::format("{}", *took).c_str());
    QVERIFY(*detail.summary.finished > before && *detail.summary.finished < after + 60);
  }

  // conda in ~/.bashrc, longer than a reading may be silent: the run is followed all the same.
  void a_login_shell_becomes_slow() {
    test::SshdOptions options;
    options.login_shell = "/bin/bash";
    const auto node = must(test::Sshd::start(options));
    node->let_in(sshd_->user_home() + "/.ssh/id_ed25519.pub");
    LaunchRequest there = fixture_->request(100000, 20);
    there.target = node->trusted_target();
    const auto run = launched(there);
    QVERIFY(fixture_->reaches_step(run.id, 3));
    const auto cut = remote::connect(there.target, there.target.hosts[0]);
    QVERIFY(cut);
    std::ofstream(node->node_home() + "/.bashrc") << "sleep 10\n";
    (void)cut_connections(**cut);
    const int64_t step = fixture_->detail(run.id).summary.steps;
    QVERIFY(fixture_->reaches_step(run.id, step + 1));
    must(workbench::stop(fixture_->detail(run.id)));
    QVERIFY(
        QTest::qWaitFor([&] { return storage::has_ended(fixture_->detail(run.id).summary.state); },
                        RunFixture::kPatience));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::stopped);
  }

  void a_restarted_node_loses_the_run() {
    const auto run = launched(request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 1));
    sshd_->stop();
    const double stopped = unix_now();
    QVERIFY(QTest::qWaitFor(
        [&] {
          storage::Reader reader = must(storage::Reader::open(fixture_->store));
          const auto lines = must(reader.last_lines(run.id, 1));
          return !lines.empty() && lines[0].text.ends_with("; trying again");
        },
        RunFixture::kPatience));
    QCOMPARE(fixture_->detail(run.id).summary.state, RunState::running);
    must(sshd_->start_again());
    QVERIFY(fixture_->ends(run.id));
    const storage::RunSummary lost = fixture_->detail(run.id).summary;
    QCOMPARE(lost.state, RunState::lost);
    QVERIFY(lost.finished && *lost.finished <= stopped);  // its last sign of life
    verify_complete(run.id);
  }
};

HEDDLE_TEST(RemoteRunsTest)
#include "remote_runs_test.moc"
