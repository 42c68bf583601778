// Runs that go on from others' checkpoints: what resume and fork do, what they say before, and what
// is refused before anything starts. Real processes; the ranks keep real manifests.
#include <QProcess>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "engine/checkpoint/step_folders.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/continuation.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/import.h"
#include "workbench/importers/heddle_run.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;
using storage::RunState;
using Kind = storage::Lineage::Kind;
namespace fs = std::filesystem;

class LineageTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;
  std::unique_ptr<Workbench> workbench_;

  storage::RunDetail detail(storage::RunId run) const { return fixture_->detail(run); }

  LaunchRequest request(int steps, int pace = 1, std::vector<std::string> sets = {}) const {
    LaunchRequest request = fixture_->request(steps, pace);
    request.sets = std::move(sets);
    return request;
  }

  storage::CreatedRun launched(const LaunchRequest& request) {
    const auto run = workbench::launch(workbench_->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    return *run;
  }

  /// A run of 20 steps with checkpoints at 10, 15 and 20.
  storage::RunDetail trained(std::vector<std::string> sets = {}) {
    sets.emplace_back("checkpoint.every=5");
    const auto run = launched(request(20, 1, std::move(sets)));
    if (!fixture_->ends(run.id)) qFatal("%s does not end", run.name.c_str());
    return detail(run.id);
  }

  Result<Continuation> planned(Kind kind, const storage::RunDetail& parent,
                               const std::string& checkpoint = {},
                               const std::vector<std::string>& sets = {}) const {
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    Result<Continuation> plan = plan_continuation(
        reader, {.kind = kind, .parent = parent, .checkpoint = checkpoint, .sets = sets});
    return plan;
  }

  std::string folder_of(const storage::RunDetail& run) const {
    return run.run_dir + "/checkpoints";
  }

  static void says(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " in: " + text).c_str());
  }
  template <typename T>
  static void refused(const Result<T>& result, std::initializer_list<const char*> parts) {
    QVERIFY(!result);
    says(result.error().message, parts);
  }

  /// The shell's commands, with rank_engine as the engine.
  process::Completed heddle(std::vector<std::string> words) const {
    const std::string bin = fixture_->path("bin");
    fs::create_directories(bin);
    // By another process: a descriptor of ours that writes it could go to a child that another
    // thread starts meanwhile, and a file that is written to cannot be run.
    if (!fs::exists(bin + "/heddle"))
      must(process::run({.argv = {"cp", HEDDLE_BINARY_DIR "/command_driver", bin + "/heddle"},
                         .deadline = std::chrono::seconds(60)}));
    words.insert(words.begin(), bin + "/heddle");
    words.insert(words.end(), {"--store", fixture_->store});
    return must(process::run({.argv = words, .deadline = std::chrono::seconds(60)}));
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

  void every_run_keeps_checkpoints_unless_told() {
    const auto run = launched(request(100000, 20));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    says(describe_stop(detail(run.id)),
         {"writes a checkpoint in ", "/checkpoints", "can be resumed"});
    says(describe_kill(detail(run.id)), {"There is no checkpoint yet", "Stop writes one"});
    must(workbench::stop(detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail stopped = detail(run.id);
    QCOMPARE(checkpoint::checkpoints_in(folder_of(stopped)),
             (std::vector{checkpoint::step_folder(stopped.summary.steps)}));

    const auto bare = launched(request(100000, 20, {"checkpoint.enabled=false"}));
    QVERIFY(fixture_->reaches_step(bare.id, 2));
    QVERIFY(!stop_keeps(detail(bare.id)));
    says(describe_stop(detail(bare.id)), {"keeps no checkpoints", "of training are lost"});
    says(describe_kill(detail(bare.id)), {"checkpoint.enabled is false", "are lost"});
    must(workbench::stop(detail(bare.id)));
    QVERIFY(fixture_->ends(bare.id));
    QVERIFY(!fs::exists(folder_of(detail(bare.id))));
    refused(planned(Kind::resume, detail(bare.id)), {"checkpoint.enabled = false"});
  }

  void a_resume_goes_on_after_the_newest_checkpoint() {
    const storage::RunDetail parent = trained();
    const Continuation plan =
        must(planned(Kind::resume, parent, {}, {"training.steps=30", "optimizer.lr=1e-4"}));
    says(to_text(plan), {"resume of debug after step 20, to step 30 on this-machine\n", "from ",
                         "/checkpoints/step-20\n", "with training.steps 30 instead of 20\n",
                         "with optimizer.lr 1e-4 instead of 3e-4\n", "go to its run directory\n"});
    const auto run = launched(plan.launch);
    QCOMPARE(run.name, std::string("debug→30"));
    QVERIFY(detail(run.id).run_dir.starts_with(fixture_->path("node/runs/")));
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail resumed = detail(run.id);
    QVERIFY2(resumed.summary.state == RunState::done, resumed.summary.cause.c_str());
    QCOMPARE(resumed.summary.steps, int64_t(30));
    QCOMPARE(resumed.summary.lineage,
             std::optional(storage::Lineage{Kind::resume, parent.summary.id, "debug", 20}));
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QCOMPARE(must(reader.samples(run.id, "loss", 0)).front().step, int64_t(21));
    // The parent's checkpoints stay as they were.
    QCOMPARE(checkpoint::checkpoints_in(folder_of(parent)).front(), std::string("step-20"));
    QCOMPARE(checkpoint::checkpoints_in(folder_of(resumed)).front(), std::string("step-30"));
    QCOMPARE(recipe::parse(resumed.recipe, "kept").recipe.optimizer.lr, 1e-4);
    refused(planned(Kind::resume, parent), {"has trained 20 steps", "--set training.steps=40"});
  }

  void a_fork_begins_with_the_step_that_is_asked_for() {
    const std::string shared = fixture_->path("shared");
    const storage::RunDetail parent = trained({"checkpoint.folder=\"" + shared + "\""});
    const Continuation plan = must(planned(Kind::fork, parent, "10", {"optimizer.lr=1e-4"}));
    says(to_text(plan), {"fork of debug after step 10", "checkpoint.folder is emptied",
                         "go to its run directory"});
    const auto run = launched(plan.launch);
    QVERIFY(fixture_->ends(run.id));
    const storage::RunDetail fork = detail(run.id);
    QCOMPARE(fork.summary.lineage,
             std::optional(storage::Lineage{Kind::fork, parent.summary.id, "debug", 10}));
    QCOMPARE(checkpoint::checkpoints_in(folder_of(fork)).front(), std::string("step-20"));
    storage::Reader reader = must(storage::Reader::open(fixture_->store));
    QCOMPARE(must(reader.samples(run.id, "loss", 0)).front().step, int64_t(11));
    refused(planned(Kind::fork, parent, "12"),
            {"debug saved no checkpoint 12; valid: step-20, step-15, step-10"});
    refused(planned(Kind::fork, parent, "15th"), {"debug saved no checkpoint 15th; valid: "});
    fs::rename(shared + "/step-15", shared + "/step-15-best");
    QCOMPARE(must(planned(Kind::fork, parent, "best", {"optimizer.lr=1e-4"})).from.step,
             int64_t(15));
  }

  void a_resume_may_share_the_folder_that_the_recipe_names() {
    const std::string shared = fixture_->path("shared");
    const storage::RunDetail parent = trained({"checkpoint.folder=\"" + shared + "\""});
    const auto run =
        launched(must(planned(Kind::resume, parent, {}, {"training.steps=30"})).launch);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(checkpoint::checkpoints_in(shared),
             (std::vector<std::string>{"step-30", "step-25", "step-20"}));
    // Its newest checkpoint is not the parent's any more.
    refused(planned(Kind::resume, parent, {}, {"training.steps=40"}),
            {"was continued by debug→30 in the same folder"});
  }

  void a_new_run_never_continues_another() {
    const std::string shared = fixture_->path("shared"),
                      set = "checkpoint.folder=\"" + shared + '"';
    const auto running = launched(request(100000, 20, {set}));
    QVERIFY(fixture_->reaches_step(running.id, 1));
    auto second = workbench::launch(workbench_->writer(), request(20, 1, {set}));
    QVERIFY(!second && !second.error().run);
    says(second.error().message, {"checkpoint.folder: debug is saving its checkpoints in"});
    must(workbench::stop(detail(running.id)));
    QVERIFY(fixture_->ends(running.id));
    second = workbench::launch(workbench_->writer(), request(20, 1, {set}));
    QVERIFY(!second);
    says(second.error().message, {"holds checkpoints of debug, the newest step-",
                                  "a new run starts from scratch", "heddle launch --resume debug"});
    QCOMPARE(second.error().faults.size(), size_t(1));
    QCOMPARE(must(must(storage::Reader::open(fixture_->store)).runs()).size(), size_t(1));
    // Its recipe as a new run's has another folder, and starts at step 0.
    bool emptied = false;
    LaunchRequest anew = request(5);
    anew.recipe_text = as_new_recipe(detail(running.id).recipe, emptied);
    anew.sets = {"training.steps=5"};
    QVERIFY(emptied);
    const auto run = launched(anew);
    QVERIFY(fixture_->ends(run.id));
    QCOMPARE(detail(run.id).summary.steps, int64_t(5));
    QVERIFY(!detail(run.id).summary.lineage);
  }

  void two_windows_resume_one_run_once() {
    const storage::RunDetail parent = trained();
    const auto plan = [&] {
      return must(planned(Kind::resume, parent, {}, {"training.steps=100000", "training.seed=20"}));
    };
    const Continuation first = plan(), second = plan();  // both before either has started
    const auto run = launched(first.launch);
    const auto other = std::unique_ptr(must(storage::Writer::open(fixture_->store)));
    const auto twice = workbench::launch(*other, second.launch);
    QVERIFY(!twice);
    says(twice.error().message,
         {"debug is being continued by debug→100000 since", "fork it instead"});
    refused(planned(Kind::resume, parent, {}, {"training.steps=50"}),
            {"debug is being continued by debug→100000; fork it instead"});
    QVERIFY(planned(Kind::fork, parent, "15"));
    must(workbench::kill(detail(run.id)));
    QVERIFY(fixture_->ends(run.id));
    QVERIFY(planned(Kind::resume, parent, {}, {"training.steps=50"}));
  }

  void a_second_resume_hears_of_the_first() {
    const storage::RunDetail parent = trained();
    const auto run =
        launched(must(planned(Kind::resume, parent, {}, {"training.steps=25"})).launch);
    QVERIFY(fixture_->ends(run.id));
    says(to_text(must(planned(Kind::resume, parent, {}, {"training.steps=30"}))),
         {"debug→25 has gone on from it to step 25"});
  }

  void a_damaged_checkpoint_is_passed_over_and_said() {
    const storage::RunDetail parent = trained();
    const std::string newest = folder_of(parent) + "/step-20";
    fs::resize_file(newest + "/rank-0.safetensors", 1);
    const Continuation plan = must(planned(Kind::resume, parent));
    QCOMPARE(plan.from.name, std::string("step-15"));
    says(to_text(plan),
         {"after step 15, to step ", "step-20/rank-0.safetensors: damaged: 1 bytes"});
    refused(planned(Kind::fork, parent, "20"), {"no checkpoint of debug is whole", "damaged"});
    fs::resize_file(newest + "/manifest.json", 100);
    says(to_text(must(planned(Kind::resume, parent))), {"manifest.json: cut short or damaged"});
    fs::remove(newest + "/manifest.json");
    says(to_text(must(planned(Kind::resume, parent))), {"manifest.json: missing"});
    for (const char* step : {"/step-10", "/step-15"})
      fs::remove(folder_of(parent) + step + "/rank-0.safetensors");
    refused(planned(Kind::resume, parent),
            {"no checkpoint of debug is whole", "step-10/rank-0.safetensors: missing"});
  }

  void what_is_gone_is_named() {
    const storage::RunDetail parent = trained();
    fs::rename(folder_of(parent), fixture_->path("elsewhere"));
    refused(planned(Kind::resume, parent), {"debug has no checkpoint: there is none in "});
    fs::rename(parent.run_dir, fixture_->path("run"));
    refused(planned(Kind::resume, parent), {"the run directory of debug is gone: there is no "});
    Place place = must(place_from_json(parent.hosts));
    place.target.hosts[0] = *remote::parse_host("127.0.0.1:1");
    place.shares[0].engine_id = std::string(64, 'a');
    storage::RunDetail away = parent;
    away.hosts = to_json(place);
    refused(planned(Kind::resume, away), {"checkpoints of debug cannot be reached", "127.0.0.1"});
  }

  void a_recipe_that_does_not_fit_is_told_key_by_key() {
    const storage::RunDetail parent = trained();
    refused(planned(Kind::fork, parent, "15", {"model.n_layers=3", "model.dim=64"}),
            {"step-15: a checkpoint of another model: its dim is 256, the recipe's 64; its "
             "n_layers is 6, the recipe's 3",
             "parallelism, batch, data, learning rate and schedule may change"});
    QVERIFY(planned(Kind::fork, parent, "15",
                    {"hardware.ranks=1", "training.local_batch=4", "data.seq_len=16"}));
    refused(planned(Kind::fork, parent, "15", {"optimizer.learning=1"}), {"optimizer.learning"});
  }

  void a_parent_stays_until_it_is_not_needed() {
    const storage::RunDetail parent = trained();
    const auto run = launched(must(planned(Kind::fork, parent, "15", {"training.seed=20"})).launch);
    QVERIFY(fixture_->ends(run.id));
    must(workbench::remove(workbench_->writer(), parent));
    // The name of what it began with stays.
    QCOMPARE(detail(run.id).summary.lineage,
             std::optional(storage::Lineage{Kind::fork, 0, "debug", 15}));
    // A child that has not read it yet keeps it.
    storage::NewRun row;
    row.name = "beginning";
    row.hosts = to_json(place_on(fixture_->target()));
    row.lineage = storage::Lineage{Kind::fork, run.id, detail(run.id).summary.name, 20};
    must(workbench_->writer().create_run(row).get());
    refused(workbench::remove(workbench_->writer(), detail(run.id)),
            {"beginning is just beginning with a checkpoint of debug@15"});
  }

  void lineage_is_imported() {
    const storage::RunDetail parent = trained();
    const auto run = launched(must(planned(Kind::fork, parent, "10")).launch);
    QVERIFY(fixture_->ends(run.id));
    const auto copy =
        must(import_run(workbench_->writer(), {detail(run.id).run_dir, &kHeddleRun}, "copy"));
    QCOMPARE(detail(copy.id).summary.lineage,
             std::optional(storage::Lineage{Kind::fork, 0, "debug", 10}));
    refused(planned(Kind::resume, detail(copy.id)), {"was imported", "model.checkpoint"});
  }

  void the_shell_resumes_and_forks() {
    const storage::RunDetail parent = trained();
    workbench_.reset();
    const auto resumed = heddle(
        {"launch", "--resume", "debug", "--set", "training.steps=30", "--name", "more", "--wait"});
    QCOMPARE(resumed.exit_code, 0);
    says(resumed.out, {"resume of debug after step 20, to step 30 on this-machine\n",
                       "more is done after 30 steps"});
    const auto forked =
        heddle({"launch", "--fork", "debug@15", "--set", "optimizer.lr=1e-4", "--wait"});
    QCOMPARE(forked.exit_code, 0);
    says(forked.out,
         {"fork of debug after step 15, to step 20", "with optimizer.lr 1e-4 instead of 3e-4"});
    says(heddle({"runs"}).out, {"resume of debug after step 20", "fork of debug after step 15"});
    says(heddle({"show", "more"}).out, {"lineage   resume of debug after step 20"});
    says(heddle({"compare", "debug", "more"}).out, {"lineage", "resume of debug after step 20"});
    const auto shown = nlohmann::json::parse(heddle({"show", "more", "--json"}).out);
    QVERIFY(
        shown["parent"] ==
        nlohmann::json(
            {{"lineage", "resume"}, {"id", parent.summary.id}, {"name", "debug"}, {"step", 20}}));
    const std::string exported = fixture_->path("exported");
    QCOMPARE(heddle({"export", "more", "--to", exported}).exit_code, 0);
    QVERIFY(read_file(exported + "/recipe.toml").starts_with("# resume of debug after step 20\n"));
  }

  void the_shell_refuses_with_2_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, QStringList words, const char* says) {
      QTest::newRow(name) << words << says;
    };
    row("both", {"launch", "x.toml", "--resume", "debug"}, "launch takes one of them");
    row("unsaved step", {"launch", "--fork", "debug@12"}, "valid: step-20, step-15, step-10");
    row("no such run", {"launch", "--resume", "ghost"}, "no run 'ghost'");
    row("done", {"launch", "--resume", "debug"}, "--set training.steps=40");
    row("elsewhere", {"launch", "--fork", "debug", "--on", "moon"},
        "debug ran on this-machine, which has its checkpoints");
    row("another model", {"launch", "--fork", "debug", "--set", "model.n_layers=3"},
        "its n_layers is 6, the recipe's 3");
  }
  void the_shell_refuses_with_2() {
    QFETCH(QStringList, words);
    QFETCH(QString, says);
    trained();
    std::vector<std::string> arguments;
    for (const QString& word : words) arguments.push_back(word.toStdString());
    const auto completed = heddle(arguments);
    QCOMPARE(completed.exit_code, 2);
    QVERIFY2(completed.err.find(says.toStdString()) != std::string::npos, completed.err.c_str());
  }

  void the_shell_discards_only_when_told() {
    const auto run = launched(request(100000, 20, {"checkpoint.enabled=false"}));
    QVERIFY(fixture_->reaches_step(run.id, 2));
    const auto stop = heddle({"stop", "debug"});
    QCOMPARE(stop.exit_code, 2);
    says(stop.err, {"keeps no checkpoints", "heddle stop debug --discard"});
    QCOMPARE(heddle({"stop", "debug", "--kill"}).exit_code, 2);
    QCOMPARE(detail(run.id).summary.state, RunState::running);
    QCOMPARE(heddle({"stop", "debug", "--discard"}).exit_code, 0);
    QVERIFY(fixture_->ends(run.id));
  }
};

HEDDLE_TEST(LineageTest)
#include "lineage_test.moc"
