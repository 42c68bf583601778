// From launch to the end in the store, on this machine, with real processes and real logs.
#include <signal.h>
#include <sys/stat.h>

#include <QProcess>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/process_id.h"
#include "engine/runs/run_files.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/import.h"
#include "workbench/importers/heddle_run.h"
#include "workbench/removal.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;

class RunsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;

  void open() { workbench_ = must(Workbench::open(fixture_->store)); }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  storage::RunDetail detail(storage::RunId run) const { return fixture_->detail(run); }

  heddle::runs::Status status(storage::RunId run) const {
    return must(heddle::runs::read_status(detail(run).run_dir));
  }

 private Q_SLOTS:
  void init() { fixture_ = std::make_unique<RunFixture>(); }
  void cleanup() {
    workbench_.reset();
    fixture_.reset();
  }

  void a_run_ends_with_all_of_it_in_the_store() {
    open();
    const auto run = launched(fixture_->request(200));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail ended = detail(run.id);
    QCOMPARE(ended.summary.name, std::string("debug"));
    QCOMPARE(ended.summary.state, RunState::done);
    QCOMPARE(ended.summary.steps, int64_t(200));
    QCOMPARE(ended.summary.target, std::string("this-machine"));
    QVERIFY(ended.summary.started && ended.summary.finished);
    fixture_->verify_complete(run.id, 2);
  }

  void the_recipe_is_kept_as_written_with_its_sets() {
    open();
    LaunchRequest request = fixture_->request(3);
    // The vocabulary is this one's.
    std::filesystem::copy_file(HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json",
                               fixture_->path("tokenizer.json"),
                               std::filesystem::copy_options::overwrite_existing);
    request.sets = {"optimizer.lr=1e-3", "wrapping.mode=none", "model.vocab_size=0"};
    const auto run = launched(request);
    QVERIFY(fixture_->ends(run.id));
    const recipe::Parsed kept = recipe::parse(detail(run.id).recipe, "kept");
    QVERIFY(kept.ok());
    QCOMPARE(kept.recipe.optimizer.lr, 1e-3);
    QCOMPARE(kept.recipe.wrapping.mode, recipe::WrappingMode::none);
    QCOMPARE(kept.recipe.data.text[0], fixture_->path("corpus.txt"));
    QVERIFY(detail(run.id).recipe.starts_with("# A test's recipe.\n"));
    // The meaning of 0 is compared.
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const storage::Value size = must(reader.recipe_values(run.id)).at("model.vocab_size");
    QVERIFY(std::stoi(std::get<std::string>(size)) > 0);
  }

  void a_checkpoint_may_name_the_model() {
    open();
    LaunchRequest request = fixture_->request(3);
    const std::string preset = "preset = \"llama3-debug\"\nvocab_size = 512\n";
    request.recipe_text.replace(request.recipe_text.find(preset), preset.size(),
                                "checkpoint = \"" HEDDLE_SOURCE_DIR
                                "/tests/fixtures/reference/llama-tiny\"\n");
    const auto run = launched(request);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::done);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(must(reader.recipe_values(run.id)).at("model.dim") == storage::Value("64"));
  }

  void a_killed_workbench_goes_on_where_it_was() {
    // Its follower is killed ten times in mid-run; at the end nothing is missing or doubled.
    open();
    const auto run = launched(fixture_->request(1000, 4));
    workbench_.reset();
    std::mt19937 random(20261121);
    for (int kill = 0; kill < 10; ++kill) {
      QProcess follower;
      follower.start(HEDDLE_BINARY_DIR "/follow_driver", {QString::fromStdString(fixture_->store)});
      QVERIFY(follower.waitForStarted());
      QTest::qWait(50 + static_cast<int>(random() % 300));
      follower.kill();
      QVERIFY(follower.waitForFinished());
      QCOMPARE(follower.exitStatus(), QProcess::CrashExit);
    }
    // It was killed while there was something to follow.
    QCOMPARE(detail(run.id).summary.state, RunState::running);
    open();
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::done);
    QCOMPARE(detail(run.id).summary.steps, int64_t(1000));
    fixture_->verify_complete(run.id, 2);
  }

  void a_killed_rank_fails_the_run() {
    open();
    const auto run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    const heddle::runs::Status running = status(run.id);
    ::kill(running.state->ranks[1].process.pid, SIGKILL);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::failed);
    QVERIFY(detail(run.id).summary.cause.starts_with("rank 1 was killed by SIGKILL after step "));
    QCOMPARE(identify(running.state->ranks[0].process.pid), ProcessId{});
    fixture_->verify_complete(run.id, 2);
  }

  void stop_ends_a_run_as_stopped() {
    open();
    const auto run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    must(workbench::stop(detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::stopped);
    fixture_->verify_complete(run.id, 2);
    const Result<> again = workbench::stop(detail(run.id));
    QVERIFY(!again);
    QCOMPARE(again.error().message, std::string("debug has ended already: stopped"));
  }

  void a_run_without_its_supervisor_is_lost() {
    open();
    const auto run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    ::kill(status(run.id).state->supervisor.pid, SIGKILL);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::lost);
    QVERIFY(detail(run.id).summary.cause.starts_with("the supervisor on this-machine is gone"));
    fixture_->verify_complete(run.id, 2);
  }

  void a_run_without_its_state_says_so() {
    open();
    const auto run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    ::kill(status(run.id).state->supervisor.pid, SIGKILL);
    const std::string file = detail(run.id).run_dir + "/state.json";
    std::filesystem::remove(file);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::lost);
    QCOMPARE(
        detail(run.id).summary.cause,
        file + " on this-machine is gone: somebody has moved or removed it, and its ranks end");
  }

  // The launching process has died after recording where the run would be.
  void a_run_that_was_never_started_says_so() {
    Place place = place_on(fixture_->target());
    place.launcher = {.pid = 1, .start_time = 1};
    place.shares.push_back(
        {.root = fixture_->path("node"), .folder = "debug", .engine_id = "", .local_ranks = 2});
    const std::string run_dir = place.shares[0].run_dir();
    std::filesystem::create_directories(run_dir);
    storage::NewRun run;
    run.name = "debug";
    run.target = "this-machine";
    run.hosts = to_json(place);
    open();
    const auto made = must(workbench_->writer().create_run(run));
    must(workbench_->writer().set_place(made.id, run.hosts, run_dir));
    QVERIFY(fixture_->ends(made.id));
    QCOMPARE(detail(made.id).summary.state, RunState::lost);
    QCOMPARE(
        detail(made.id).summary.cause,
        std::string("it was never started on this-machine: the launch was interrupted before"));
  }

  void a_run_whose_directory_vanishes_says_so() {
    open();
    const auto run = launched(fixture_->request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    const heddle::runs::Status running = status(run.id);
    std::filesystem::remove_all(detail(run.id).run_dir);
    QVERIFY(fixture_->ends(run.id));
    // A last checkpoint may have made the folder again, and then its end is there too.
    const RunState state = detail(run.id).summary.state;
    QVERIFY(state == RunState::lost || state == RunState::failed);
    QVERIFY2(
        detail(run.id).summary.cause.find("somebody has moved or removed it") != std::string::npos,
        detail(run.id).summary.cause.c_str());
    QTRY_COMPARE_WITH_TIMEOUT(identify(running.state->ranks[0].process.pid), ProcessId{}, 20000);
  }

  void a_bad_recipe_makes_no_run() {
    open();
    LaunchRequest request = fixture_->request(10);
    request.sets = {"training.stepz=3"};
    auto run = workbench::launch(workbench_->writer(), request);
    QVERIFY(!run);
    QCOMPARE(run.error().faults.size(), size_t(1));
    QVERIFY2(run.error().message.find("training.stepz") != std::string::npos,
             run.error().message.c_str());

    request = fixture_->request(10);
    std::filesystem::remove(fixture_->path("corpus.txt"));
    run = workbench::launch(workbench_->writer(), request);
    QVERIFY(!run);
    const std::string line =
        request.recipe_file + ":6:9: data.text: there is no " + fixture_->path("corpus.txt");
    QVERIFY2(run.error().message.starts_with(line), run.error().message.c_str());
    QVERIFY(must(must(storage::Reader::open(fixture_->store)).runs()).empty());
  }

  void a_failed_launch_is_kept_with_its_cause() {
    open();
    LaunchRequest request = fixture_->request(10);
    use_engine(fixture_->path("no-engine"));
    const auto run = workbench::launch(workbench_->writer(), request);
    use_engine();
    QVERIFY(!run);
    QVERIFY(run.error().run);
    const storage::RunSummary kept = detail(*run.error().run).summary;
    QCOMPARE(kept.state, RunState::failed);
    QCOMPARE(kept.cause, run.error().message);
    QVERIFY2(kept.cause.find("no-engine") != std::string::npos, kept.cause.c_str());
  }

  void a_host_that_does_not_answer_is_named() {
    open();
    LaunchRequest request = fixture_->request(10);
    request.target.name = "loom";
    request.target.hosts[0] = *remote::parse_host("127.0.0.1:1");
    const auto run = workbench::launch(workbench_->writer(), request);
    QVERIFY(!run);
    QVERIFY(run.error().connection);
    QCOMPARE(run.error().connection->kind, remote::ConnectError::Kind::unreachable);
    QVERIFY(!run.error().run);  // nothing was begun
  }

  void a_cancelled_launch_starts_nothing() {
    open();
    const auto run = workbench::launch(
        workbench_->writer(), fixture_->request(10),
        [](const std::string& what, uint64_t, uint64_t) { return !what.starts_with("bringing"); });
    QVERIFY(!run);
    QCOMPARE(run.error().message, std::string("cancelled"));
    QCOMPARE(detail(*run.error().run).summary.state, RunState::failed);
  }

  void an_interrupted_launch_is_found() {
    // The row of a launcher that died before it knew the hosts.
    open();
    Place place = place_on(fixture_->target());
    place.launcher.start_time += 1;
    storage::NewRun row;
    row.name = "half";
    row.hosts = to_json(place);
    const auto run = must(workbench_->writer().create_run(row).get());
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::failed);
    QCOMPARE(detail(run.id).summary.cause, std::string("interrupted while it was being prepared"));
  }

  void a_launcher_that_died_late_leaves_a_running_run() {
    // Supervisors are started, and then the launcher dies before it says so.
    workbench_.reset();
    std::unique_ptr<storage::Writer> writer = must(storage::Writer::open(fixture_->store));
    const auto run = workbench::launch(*writer, fixture_->request(300));
    QVERIFY(run);
    Place place = must(place_from_json(detail(run->id).hosts));
    place.launcher.start_time += 1;
    must(writer->set_place(run->id, to_json(place), detail(run->id).run_dir).get());
    must(writer->set_state(run->id, RunState::preparing).get());
    writer.reset();
    open();
    QVERIFY(fixture_->ends(run->id));
    QCOMPARE(detail(run->id).summary.state, RunState::done);
    fixture_->verify_complete(run->id, 2);
  }

  void another_workbench_takes_over() {
    open();
    const std::unique_ptr<Workbench> second = must(Workbench::open(fixture_->store));
    const auto run = launched(fixture_->request(100, 10));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    workbench_.reset();
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.state, RunState::done);
    fixture_->verify_complete(run.id, 2);
  }

  void a_run_directory_is_imported() {
    open();
    const auto run = launched(fixture_->request(50));
    QVERIFY(fixture_->ends(run.id));
    const std::string run_dir = detail(run.id).run_dir;
    const auto imported = must(import_run(workbench_->writer(), {run_dir, &kHeddleRun}, "copy"));
    QCOMPARE(imported.name, std::string("copy"));
    const storage::RunDetail copy = detail(imported.id);
    QCOMPARE(copy.summary.state, RunState::done);
    QCOMPARE(copy.summary.steps, int64_t(50));
    QCOMPARE(copy.summary.target, std::string("imported"));
    // By its age it is as old as the run that it is of, not as the import.
    QVERIFY(copy.summary.started && copy.summary.finished);
    QVERIFY(std::abs(copy.summary.created - *copy.summary.started) < 0.01);
    QVERIFY(copy.summary.created < *copy.summary.finished);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QVERIFY(digests_of_store(reader, imported.id) == digests_of_folder(run_dir, 2));
    QVERIFY(!import_run(workbench_->writer(), {fixture_->path("."), &kHeddleRun}));
  }

  void folders_of_runs_are_imported_once() {
    open();
    const auto run = launched(fixture_->request(20));
    const auto elsewhere = launched(fixture_->request(20));
    QVERIFY(fixture_->ends(run.id) && fixture_->ends(elsewhere.id));
    const std::string below = fixture_->path("elsewhere/below");
    std::filesystem::create_directories(below);
    std::filesystem::copy(detail(elsewhere.id).run_dir, below + "/one");
    std::filesystem::copy(detail(elsewhere.id).run_dir, below + "/twin");
    must(workbench_->writer().remove(elsewhere.id).get());
    const std::string folder = fixture_->path("elsewhere");
    std::vector<std::string> found;
    for (const FoundRun& one : must(find_runs(folder))) found.push_back(one.path);
    QCOMPARE(found, (std::vector<std::string>{below + "/one", below + "/twin"}));

    // Beside this workbench, which has the lease; what was launched here is here already, and so is
    // what has come in from another folder.
    const auto beside = must(storage::Writer::open(fixture_->store));
    const std::vector<std::string> paths{folder, below + "/twin/", detail(run.id).run_dir,
                                         fixture_->path("node/none")};
    const auto first = import_runs(fixture_->store, *beside, paths);
    QCOMPARE(first.size(), size_t(4));
    int here = 0;
    for (const Imported& one : first) {
      QCOMPARE(one.run.has_value(), one.path != fixture_->path("node/none"));
      here += one.was_here;
      if (one.path.starts_with(folder)) QCOMPARE(one.was_here, one.path != below + "/one");
    }
    QCOMPARE(here, 2);
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QCOMPARE(must(reader.runs()).size(), size_t(2));
    for (const storage::RunSummary& summary : must(reader.runs())) {
      QCOMPARE(summary.state, RunState::done);
      const std::string run_dir = summary.id == run.id ? detail(run.id).run_dir : below + "/one";
      QVERIFY(digests_of_store(reader, summary.id) == digests_of_folder(run_dir, 2));
    }
    for (const Imported& one : import_runs(fixture_->store, *beside, {folder}))
      QVERIFY(one.was_here && one.run);
    QCOMPARE(must(reader.runs()).size(), size_t(2));
  }

  void an_import_follows_no_links_and_waits_for_no_pipes() {
    namespace fs = std::filesystem;
    open();
    const auto run = launched(fixture_->request(20));
    QVERIFY(fixture_->ends(run.id));
    const std::string run_dir = detail(run.id).run_dir;
    fs::create_directories(fixture_->path("foreign"));
    fs::create_directory_symlink(run_dir, fixture_->path("foreign/link"));
    fs::create_directories(fixture_->path("foreign/pipe"));
    QCOMPARE(mkfifo(fixture_->path("foreign/pipe/rank-0.0.hlog").c_str(), 0600), 0);
    fs::create_directories(fixture_->path("foreign/linked"));
    fs::create_symlink(run_dir + "/rank-0.0.hlog", fixture_->path("foreign/linked/rank-0.0.hlog"));
    QVERIFY(must(find_runs(fixture_->path("foreign"))).empty());

    const std::string copy = fixture_->path("copied");
    const auto import_with = [&](const std::string& name, auto replace) {
      fs::remove_all(copy);
      fs::copy(run_dir, copy);
      fs::remove(copy + "/" + name);
      replace(copy + "/" + name);
      return import_run(workbench_->writer(), {copy, &kHeddleRun});
    };
    for (const std::string name : {"recipe.toml", "launch.json", "state.json", "end.json",
                                   "rank-0.0.hlog", "rank-1.0.hlog"}) {
      const auto link = [&](const std::string& path) {
        fs::create_symlink(run_dir + "/" + name, path);
      };
      VERIFY_SAYS(import_with(name, link), name + ": cannot be read: it is a link");
      const auto pipe = [](const std::string& path) { mkfifo(path.c_str(), 0600); };
      VERIFY_SAYS(import_with(name, pipe), name + ": cannot be read: it is no regular file");
      if (name.ends_with(".hlog")) continue;
      const auto large = [](const std::string& path) {
        std::ofstream(path) << "";
        fs::resize_file(path, uint64_t{17} << 20);
      };
      VERIFY_SAYS(import_with(name, large), "at most 16777216 are read");
    }
    // Nothing of them is left, and the same run without them is taken.
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QCOMPARE(must(reader.runs()).size(), size_t(1));
    fs::remove_all(copy);
    fs::copy(run_dir, copy);
    VERIFY_RESULT(import_run(workbench_->writer(), {copy, &kHeddleRun}));
  }

  void an_interrupted_import_leaves_nothing() {
    std::string run_dir;
    {
      open();
      const auto run = launched(fixture_->request(20));
      QVERIFY(fixture_->ends(run.id));
      run_dir = fixture_->path("copy");
      std::filesystem::copy(detail(run.id).run_dir, run_dir);
      must(workbench_->writer().remove(run.id).get());
      workbench_.reset();
    }
    // As a process leaves it that was killed on the way.
    const auto interrupted = [&](storage::Writer& writer) {
      Place place = place_on(remote::this_machine());
      place.launcher.start_time += 1;
      storage::NewRun run;
      run.name = "copy", run.target = "imported", run.imported = true, run.run_dir = run_dir;
      run.hosts = to_json(place);
      const storage::RunId id = must(writer.create_run(run)).id;
      must(writer.ingest(id, 0, 0, 0, read_file(run_dir + "/rank-0.0.hlog").substr(0, 500)));
      return id;
    };
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    {
      const auto writer = must(storage::Writer::open(fixture_->store));
      const storage::RunId left = interrupted(*writer);
      const auto again = import_runs(fixture_->store, *writer, {run_dir});
      QVERIFY(again.size() == 1 && again[0].run && !again[0].was_here);
      QVERIFY(again[0].run->id != left && !reader.run(left));
      QVERIFY(digests_of_store(reader, again[0].run->id) == digests_of_folder(run_dir, 2));
      must(writer->remove(again[0].run->id));
      interrupted(*writer);
    }
    open();  // who follows the runs clears up
    QTRY_COMPARE_WITH_TIMEOUT(must(reader.runs()).size(), size_t(0), 30000);
  }

  void what_goes_with_a_run_is_told() {
    open();
    const auto run = launched(fixture_->request(5));
    QVERIFY(fixture_->ends(run.id));
    const std::string run_dir = detail(run.id).run_dir;
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    const int64_t before = must(removal_of(reader, detail(run.id))).folders.at(0).checkpoints;
    std::filesystem::create_directories(run_dir + "/checkpoints/step-4");
    std::filesystem::create_directories(run_dir + "/checkpoints/step-5.partial");
    std::ofstream(run_dir + "/checkpoints/step-4/weights") << std::string(1 << 20, 'w');
    const Removal removal = must(removal_of(reader, detail(run.id)));
    QVERIFY(removal.rows.records > 5 && removal.rows.bytes > 0);
    QCOMPARE(removal.folders.size(), size_t(1));
    QCOMPARE(removal.folders[0].path, run_dir);
    QCOMPARE(removal.folders[0].checkpoints, before + 1);
    QVERIFY(removal.folders[0].bytes >= 1 << 20 && removal.folders[0].bytes < 2 << 20);
    QVERIFY(removal.kept.empty());
  }

  void a_removed_run_is_gone_here_and_there() {
    open();
    const auto run = launched(fixture_->request(5));
    QVERIFY(fixture_->ends(run.id));
    const std::string run_dir = detail(run.id).run_dir;
    QVERIFY(std::filesystem::exists(run_dir + "/end.json"));
    must(workbench::remove(workbench_->writer(), detail(run.id)));
    QVERIFY(!std::filesystem::exists(run_dir));
    QVERIFY(must(must(storage::Reader::open(fixture_->store)).runs()).empty());
  }
};

HEDDLE_TEST(RunsTest)
#include "runs_test.moc"
