// Targets as clusters are: preludes that load modules, containers, folders for data, full and
// exec-less file systems; each fault is reported before the start, with a remedy.
#include <sys/mount.h>

#include <QScopeGuard>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "engine/runs/run_files.h"
#include "remote/batch_systems.h"
#include "remote/connect.h"
#include "remote/start_script.h"
#include "tests/support/slurm.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/backend.h"
#include "workbench/control.h"
#include "workbench/targets.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

namespace {

/// A tmpfs at a folder for as long as it is there; needs root.
class Tmpfs {
 public:
  Tmpfs(std::string folder, const char* options, unsigned long flags = 0)
      : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", flags, options) == 0;
  }
  ~Tmpfs() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  Tmpfs(const Tmpfs&) = delete;
  Tmpfs& operator=(const Tmpfs&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

/// Hosts on a network of their own, all let in by the first one's key.
remote::Target target_of(const std::vector<std::unique_ptr<test::Sshd>>& nodes) {
  remote::Target target = nodes[0]->trusted_target();
  for (size_t i = 1; i < nodes.size(); ++i) {
    nodes[i]->let_in(nodes[0]->user_home() + "/.ssh/id_ed25519.pub");
    const remote::Target other = nodes[i]->trusted_target();
    target.hosts.push_back(other.hosts[0]);
    target.accepted_keys.push_back(other.accepted_keys[0]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) target.hosts[i].name = fmt::format("n{}", i);
  target.name = "four";
  return target;
}

}  // namespace

class ClustersTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;
  std::unique_ptr<test::Sshd> sshd_;

  std::string prelude(const std::string& text) const {
    const std::string file = fixture_->path("prelude.sh");
    std::ofstream(file) << text;
    return file;
  }

  LaunchRequest with_prelude(const std::string& text, int steps = 20, int pace = 1) const {
    LaunchRequest request = fixture_->request(steps, pace);
    request.target.prelude = prelude(text);
    return request;
  }

  tl::expected<storage::CreatedRun, LaunchError> launch(const LaunchRequest& request) {
    return workbench::launch(workbench_->writer(), request);
  }

  /// The line of the preflight's finding of this name.
  std::string finding(const LaunchRequest& request, const std::string& name) const {
    const auto findings = check_launch(fixture_->store, request);
    if (!findings) qFatal("%s", findings.error().message.c_str());
    std::string others;
    for (const Finding& finding : *findings) {
      if (finding.name == name)
        return fmt::format("{} {}", probe::word(finding.status), finding.line());
      others += " " + finding.name;
    }
    return fmt::format("no finding {} among:{}", name, others);
  }

  static void contains(const std::string& text, const std::string& words) {
    QVERIFY2(text.find(words) != std::string::npos,
             fmt::format("\"{}\" is not in: {}", words, text).c_str());
  }

  void run_to_its_end(const LaunchRequest& request, storage::RunDetail& detail) {
    const auto run = launch(request);
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    QVERIFY(fixture_->ends(run->id));
    detail = fixture_->detail(run->id);
    QVERIFY2(detail.summary.state == RunState::done, detail.summary.cause.c_str());
  }

  /// The environment of the run's supervisor, once its ranks train.
  std::string environment_of(const storage::RunDetail& detail) const {
    const auto status = runs::read_status(detail.run_dir);
    if (!status || !status->state) qFatal("the run has no state");
    return read_file(fmt::format("/proc/{}/environ", status->state->supervisor.pid));
  }

 private Q_SLOTS:
  void initTestCase() { qunsetenv("SSH_AUTH_SOCK"); }
  void init() {
    fixture_ = std::make_unique<RunFixture>();
    workbench_ = must(Workbench::open(fixture_->store));
  }
  void cleanup() {
    workbench_.reset();
    fixture_.reset();
  }

  void a_prelude_makes_the_environment() {
    LaunchRequest request = with_prelude(
        "export http_proxy=http://proxy:3128 PICK='a b'\n"
        "sleep 20 & echo loading; echo '{\"condition\":\"lost\"}'; cat; set -- other words; set "
        "-eu\n"
        "trap '' TERM; export HOME=/nowhere PATH=/nowhere; cd /tmp; ulimit -n 512\n"
        "exec > /dev/null\n",
        1000, 5);
    const std::string says = finding(request, "prelude");
    contains(says, "warn prelude: sets http_proxy; changes PATH; leaves no program of the system");
    contains(says, "changes HOME to /nowhere; goes to /tmp; prints 2 lines, the last");
    contains(says, "leave HOME as it is");
    const auto run = launch(request);
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    QVERIFY(fixture_->reaches_step(run->id, 1));
    const storage::RunDetail detail = fixture_->detail(run->id);
    const std::string environment = environment_of(detail);
    contains(environment, "http_proxy=http://proxy:3128");
    contains(environment, "PICK=a b");
    QVERIFY(environment.find("heddle_begun") == std::string::npos);
    QCOMPARE(read_file(detail.run_dir + "/prelude.log"),
             std::string("loading\n{\"condition\":\"lost\"}\n"));
    // A run that hears nothing of SIGTERM could only be killed.
    QVERIFY(stop(fixture_->detail(run->id)));
    QVERIFY(fixture_->ends(run->id));
    QVERIFY(fixture_->detail(run->id).summary.state == RunState::stopped);
  }

  void a_bad_prelude_is_named_before_the_start_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("fails") << QByteArray("echo no such module; false\n")
                           << QByteArray("ends with code 1; prints last \"no such module\"");
    QTest::newRow("returns") << QByteArray("return 5\n") << QByteArray("ends with code 5");
    QTest::newRow("exits") << QByteArray("echo bye; exit 3\n")
                           << QByteArray("ends its shell, with exit code 3; prints last \"bye\"");
    QTest::newRow("exits well") << QByteArray("exit\n")
                                << QByteArray("ends its shell, with exit code 0");
    QTest::newRow("is replaced") << QByteArray("exec true\n") << QByteArray("leave out `exec`");
    QTest::newRow("set -e") << QByteArray("set -e\nfalse\ntrue\n") << QByteArray("`set -e`");
    QTest::newRow("is no shell's") << QByteArray("if then\n") << QByteArray("prints last");
    QTest::newRow("no modules") << QByteArray("module load cuda\n")
                                << QByteArray("source the file first that defines `module`");
  }
  void a_bad_prelude_is_named_before_the_start() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, says);
    const LaunchRequest request = with_prelude(text.toStdString());
    const std::string found = finding(request, "prelude");
    contains(found, "fail prelude: ");
    contains(found, says.toStdString());
    const auto run = launch(request);
    QVERIFY(!run && run.error().refused && !run.error().run);
  }

  void a_prelude_that_is_gone_is_named() {
    LaunchRequest request = with_prelude("true\n");
    contains(finding(request, "prelude"), "no finding");
    std::filesystem::remove(request.target.prelude);
    contains(finding(request, "prelude"), "fail prelude: the prelude of this-machine: ");
  }

  void a_prelude_that_fails_only_at_the_start_is_the_cause_data() {
    QTest::addColumn<QByteArray>("last");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("exits") << QByteArray("exit 0") << QByteArray("the prelude has ended the shell");
    QTest::newRow("fails") << QByteArray("false") << QByteArray("the prelude ended with code 1");
  }
  void a_prelude_that_fails_only_at_the_start_is_the_cause() {
    QFETCH(QByteArray, last);
    QFETCH(QByteArray, says);
    const LaunchRequest request = with_prelude(
        fmt::format("if [ -e '{0}' ]; then echo no node left; {1}; else touch '{0}'; fi\n",
                    fixture_->path("seen"), last.toStdString()));
    const auto run = launch(request);
    QVERIFY(!run && run.error().run);
    contains(run.error().message, says.toStdString());
    contains(run.error().message, "; it printed last \"no node left\"");
    contains(run.error().message, "/prelude.log)");
    QVERIFY(fixture_->detail(*run.error().run).summary.state == RunState::failed);
  }

  void every_batch_system_has_a_backend() {
    for (const remote::BatchSystem& system : remote::batch_systems()) {
      remote::Target target = remote::this_machine();
      target.job = {.system = system.key};
      QCOMPARE(backend_of(target).kind(), std::string(system.key));
    }
    QCOMPARE(backend_of(remote::this_machine()).kind(), std::string("local"));
  }

  void this_machine_is_a_target_of_several_names() {
    const auto heddle = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {HEDDLE_BINARY_DIR "/command_driver", "targets"});
      words.insert(words.end(), {"--store", fixture_->store});
      return must(process::run({.argv = words, .deadline = std::chrono::seconds(60)}));
    };
    const std::string file = prelude("LOADEDMODULES=cuda/12.4:gcc/12\n");
    const auto added =
        heddle({"add", "here", "--host", "this-machine", "--root", fixture_->path("other"),
                "--data-root", fixture_->path("scratch"), "--prelude", file});
    contains(added.out, "here is added");
    contains(added.out, "loads cuda/12.4:gcc/12");
    contains(added.out, "data disk");
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    LaunchRequest request = fixture_->request(20);
    request.target = must(find_target(reader, "here")).target;
    QCOMPARE(request.target.prelude, file);
    storage::RunDetail detail;
    run_to_its_end(request, detail);
    QVERIFY(detail.run_dir.starts_with(fixture_->path("other") + "/runs/"));
    contains(read_file(detail.run_dir + "/recipe.toml"), fixture_->path("scratch") + "/tokens");
    const auto gone = heddle({"add", "there", "--host", "this-machine", "--prelude", "/none"});
    QCOMPARE(gone.exit_code, 2);
    contains(gone.err, "the prelude of there: /none: ");
    const auto boxed =
        heddle({"add", "there", "--host", "this-machine", "--container", "apptainer:/a.sif"});
    contains(boxed.err, "containers are for hosts over SSH and for Slurm");
    contains(heddle({"add", "there", "--host", "h", "--container", "docker:a"}).err,
             "valid: apptainer:IMAGE or pyxis:IMAGE");
    contains(heddle({"add", "there", "--host", "h", "--container", "pyxis:a"}).err,
             "pyxis is a part of Slurm");
  }

  void a_root_that_cannot_hold_a_run_is_named_data() {
    QTest::addColumn<QByteArray>("options");
    QTest::addColumn<int>("files");
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("without exec") << QByteArray("size=8g") << -1 << QByteArray("free disk")
                                  << QByteArray("programs may not be run from there (noexec)");
    QTest::newRow("full") << QByteArray("size=64k") << 1 << QByteArray("free disk")
                          << QByteArray("no file can be written: No space left on device");
    QTest::newRow("without inodes")
        << QByteArray("size=8g,nr_inodes=4") << 3 << QByteArray("free inodes") << QByteArray("0");
  }
  void a_root_that_cannot_hold_a_run_is_named() {
    QFETCH(QByteArray, options);
    QFETCH(int, files);
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, says);
    const std::string folder = fixture_->path("mount");
    const unsigned long flags = MS_NOEXEC;
    const Tmpfs tmpfs(folder, options.constData(), files < 0 ? flags : 0UL);
    if (!tmpfs.mounted()) QSKIP("mounting a tmpfs takes root");
    for (int file = 0; file < files; ++file)
      std::ofstream(fmt::format("{}/{}", folder, file)) << std::string(256 << 10, 'x');
    LaunchRequest request = fixture_->request(20);
    request.target.root = folder + "/heddle";
    const std::string found = finding(request, name.toStdString());
    contains(found, "fail " + name.toStdString() + ": ");
    contains(found, says.toStdString());
    contains(found, "--root");
    QVERIFY(!launch(request));
  }

  void data_go_to_a_folder_of_their_own() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    sshd_ = must(test::Sshd::start());
    qputenv("HOME", sshd_->user_home().c_str());
    LaunchRequest request = fixture_->request(20);
    request.target = sshd_->trusted_target();
    request.target.data_root = "~/scratch";
    contains(finding(request, "data disk"), "pass data disk: 24 B to bring there");
    storage::RunDetail detail;
    run_to_its_end(request, detail);
    const std::string recipe =
        read_file(sshd_->node_home() + detail.run_dir.substr(test::Sshd::home_there().size()) +
                  "/recipe.toml");
    contains(recipe, "text = [\"/root/scratch/blobs/");
    contains(recipe, "cache = \"/root/scratch/tokens\"");
    contains(finding(request, "data disk"), "pass data disk: 0 B to bring there");
  }

  // apptainer is not in Debian: its command line is checked by a stand-in, which runs the program
  // on the node itself.
  void a_container_holds_supervisor_and_ranks() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    if (!sshd_) sshd_ = must(test::Sshd::start());
    qputenv("HOME", sshd_->user_home().c_str());
    LaunchRequest request = fixture_->request(1000, 5);
    request.target = sshd_->trusted_target();
    request.target.container = "apptainer:/root/llama.sif";
    request.target.data_root = "~/scratch";
    contains(finding(request, "container"), "fail container: there is no apptainer in the PATH");
    const std::string home = sshd_->node_home();
    std::filesystem::create_directories(home + "/bin");
    std::ofstream(home + "/bin/apptainer")
        << "#!/bin/sh\n"
           "[ \"$1\" = --version ] && echo stand-in for apptainer && exit\n"
           "printf '%s\\n' \"$@\" > /root/words\n"
           "while [ \"$1\" != /root/llama.sif ]; do shift; done\n"
           "shift\n"
           "exec \"$@\"\n";
    std::filesystem::permissions(home + "/bin/apptainer", std::filesystem::perms::owner_all);
    request.target.prelude = prelude("PATH=$HOME/bin:$PATH\n");
    contains(finding(request, "container"), "fail container: /root/llama.sif cannot be read there");
    std::ofstream(home + "/llama.sif") << "an image\n";
    contains(finding(request, "container"), "no finding container");
    const auto run = launch(request);
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    QVERIFY(fixture_->reaches_step(run->id, 1));
    const std::string words = read_file(home + "/words");
    const Share share = must(place_from_json(fixture_->detail(run->id).hosts)).shares[0];
    QCOMPARE(words, fmt::format("exec\n--bind\n/root/.heddle:/root/.heddle\n--bind\n"
                                "/root/scratch:/root/scratch\n/root/llama.sif\n{}\nsupervise\n"
                                "--run-dir\n{}\n--secret-stdin\n--attached\n",
                                share.engine(), share.run_dir()));
    QVERIFY(stop(fixture_->detail(run->id)));
    QVERIFY(fixture_->ends(run->id));
    QVERIFY(fixture_->detail(run->id).summary.state == RunState::stopped);
    // A container that does not start says so.
    std::ofstream(home + "/bin/apptainer")
        << "#!/bin/sh\n[ \"$1\" = --version ] && exit\necho no user namespaces >&2; exit 255\n";
    const auto none = launch(request);
    QVERIFY(!none);
    contains(none.error().message, "the container ended with exit code 255: no user namespaces");
  }

  void a_slow_node_is_named_before_the_start() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    std::vector<std::unique_ptr<test::Sshd>> nodes;
    for (int node = 0; node < 4; ++node)
      nodes.push_back(must(test::Sshd::start({.own_network = true})));
    const remote::Target target = target_of(nodes);
    qputenv("HOME", nodes[0]->user_home().c_str());
    const QByteArray cache = qgetenv("XDG_CACHE_HOME");
    const auto restored = qScopeGuard([&] { qputenv("XDG_CACHE_HOME", cache); });
    qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(fixture_->path("cache")));

    // The engine, which measures, comes with the first run.
    const auto check_of_network = [&] {
      const auto reports = must(probe_target(workbench_->writer(), target));
      for (const probe::Check& check : reports.front().checks)
        if (check.name == "network") return check;
      return probe::Check{};
    };
    QCOMPARE(check_of_network().status, probe::Status::unknown);
    LaunchRequest request = fixture_->request(20);
    request.recipe_text.replace(request.recipe_text.find("ranks = 2"), 9, "ranks = 8");
    request.target = target;
    storage::RunDetail detail;
    run_to_its_end(request, detail);
    if (const auto limited = nodes[2]->limit_cable("20mbit"); !limited)
      QSKIP(limited.error().message.c_str());
    std::string said;
    bool started = false;
    const auto run = workbench::launch(
        workbench_->writer(), request,
        [&](const std::string& what, uint64_t, uint64_t) {
          started = started || what.starts_with("starting on");
          return true;
        },
        [&](const std::vector<Finding>& findings) {
          for (const Finding& finding : findings)
            if (finding.name == "network" && !started) said += finding.line();
        });
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    contains(said, "n2 is slow: all of its links are; the slowest, to n");
    contains(said, "a run waits for its slowest link");
    QVERIFY(fixture_->ends(run->id));
    detail = fixture_->detail(run->id);
    QVERIFY2(detail.summary.state == RunState::done, detail.summary.cause.c_str());
    // Known from then on, and measured again where the target is probed.
    contains(finding(request, "network"), "warn network: n2 is slow");
    const probe::Check check = check_of_network();
    QCOMPARE(check.status, probe::Status::warn);
    contains(check.value, "n2 is slow");

    // The launch names both of two that do not reach each other.
    QVERIFY(nodes[3]->cut_from(*nodes[1]));
    const auto none = launch(request);
    QVERIFY(!none);
    contains(none.error().message, "network: n1 does not reach n3 at 198.");
    contains(none.error().message, "open the hosts' firewalls to one another");
  }

  // The real engine on four nodes whose cables carry 400 Mbit/s, but for one of 20: two ranks each,
  // tp 2 in a node, dp 4 between them. The nodes share the folder that the engine is brought to.
  void a_slow_node_is_named_and_the_run_learns_as_one_process_does() {
    if (!qEnvironmentVariableIsSet("HEDDLE_ALL")) QSKIP("with HEDDLE_ALL=1");
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const std::string shared = fixture_->path("scratch");
    std::filesystem::create_directory(shared);
    std::vector<std::unique_ptr<test::Sshd>> nodes;
    for (int node = 0; node < 4; ++node)
      nodes.push_back(must(test::Sshd::start({.own_network = true, .shared = shared})));
    qputenv("HOME", nodes[0]->user_home().c_str());
    use_engine(HEDDLE_BINARY_DIR "/heddle-engine");
    for (size_t node = 0; node < nodes.size(); ++node)
      if (const auto limited = nodes[node]->limit_cable(node == 2 ? "20mbit" : "400mbit"); !limited)
        QSKIP(limited.error().message.c_str());
    LaunchRequest request =
        must(request_from_file(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"));
    request.target = fixture_->target();
    request.sets = {"training.steps=4", "schedule.warmup_steps=0", "data.seq_len=32",
                    "training.local_batch=4", "hardware.ranks=1"};
    const auto losses_of = [&](storage::RunId run) {
      storage::Reader reader = must(storage::Reader::open(fixture_->store));
      std::vector<double> losses;
      for (const auto& sample : must(reader.samples(run, "loss", 0)))
        losses.push_back(sample.value);
      return losses;
    };
    storage::RunDetail alone;
    run_to_its_end(request, alone);
    const std::vector<double> expected = losses_of(alone.summary.id);
    QCOMPARE(expected.size(), size_t{4});

    request.target = target_of(nodes);
    request.target.root = shared + "/heddle";
    request.sets.erase(request.sets.end() - 2, request.sets.end());
    request.sets.insert(request.sets.end(),
                        {"training.local_batch=1", "hardware.ranks=8", "parallelism.tp=2"});
    std::string said;
    bool started = false;
    const auto run = workbench::launch(
        workbench_->writer(), request,
        [&](const std::string& what, uint64_t, uint64_t) {
          started = started || what.starts_with("starting on");
          return true;
        },
        [&](const std::vector<Finding>& findings) {
          for (const Finding& finding : findings)
            if (finding.name == "network" && !started) said += finding.line();
        });
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    contains(said, "n2 is slow: all of its links are; the slowest, to n");
    QVERIFY(QTest::qWaitFor(
        [&] { return storage::has_ended(fixture_->detail(run->id).summary.state); }, 240000));
    const storage::RunDetail done = fixture_->detail(run->id);
    QVERIFY2(done.summary.state == RunState::done, done.summary.cause.c_str());
    const std::vector<double> losses = losses_of(run->id);
    QCOMPARE(losses.size(), expected.size());
    for (size_t step = 0; step < losses.size(); ++step)
      QVERIFY2(std::abs(losses[step] - expected[step]) <= 1e-4,
               fmt::format("step {}: {} {}", step + 1, losses[step], expected[step]).c_str());
    qInfo("%s; losses of step 4: %.7f, of one process %.7f", said.c_str(), losses[3], expected[3]);
  }

  void jobs_have_preludes() {
    const std::string missing = test::Slurm::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto slurm = test::Slurm::start();
    if (!slurm) QSKIP(slurm.error().message.c_str());  // its daemons, not ours
    LaunchRequest request = fixture_->request(20);
    request.target = (*slurm)->target(2);
    request.target.prelude = prelude("echo on $SLURM_NODEID; export PICK=1\n");
    storage::RunDetail detail;
    run_to_its_end(request, detail);
    const Place place = must(place_from_json(detail.hosts));
    for (size_t part = 0; part < 2; ++part)
      QCOMPARE(read_file(place.shares[part].run_dir() + "/prelude.log"),
               fmt::format("on {}\n", part));
    request.target.container = "pyxis:llama";
    contains(finding(request, "container of node 0 of cluster"),
             "srun there knows no --container-image");
    request.target.container.clear();
    // Only the job's nodes lack it.
    request.target = (*slurm)->target();
    request.target.prelude =
        prelude("if [ -n \"$SLURM_NODEID\" ]; then echo no such module; exit 0; fi\n");
    const auto run = launch(request);
    QVERIFY2(run, run ? "" : run.error().message.c_str());
    QVERIFY(fixture_->ends(run->id));
    const storage::RunDetail failed = fixture_->detail(run->id);
    QVERIFY(failed.summary.state == RunState::failed);
    contains(failed.summary.cause,
             "the prelude has ended the shell (exit, exec or set -e in it); "
             "it printed last \"no such module\"");
  }
};

HEDDLE_TEST(ClustersTest)
#include "clusters_test.moc"
