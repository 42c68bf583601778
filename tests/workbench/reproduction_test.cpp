// A run launched again exactly as it was, and all that is not as it was.
#include "workbench/reproduction.h"

#include <QTest>
#include <algorithm>

#include "base/process.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/continuation.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;

class ReproductionTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<RunFixture> fixture_;

  storage::CreatedRun run_to_its_end(LaunchRequest request) const {
    const auto workbench = must(Workbench::open(fixture_->store));
    const auto run = workbench::launch(workbench->writer(), request);
    if (!run) qFatal("%s", run.error().message.c_str());
    if (!fixture_->ends(run->id)) qFatal("it does not end");
    return *run;
  }
  Result<Reproduction> plan(storage::RunId run) const {
    auto reader = must(storage::Reader::open(fixture_->store));
    return plan_reproduction(reader, fixture_->detail(run));
  }

 private Q_SLOTS:
  void init() { fixture_ = std::make_unique<RunFixture>(); }
  void cleanup() { fixture_.reset(); }

  void every_launch_records_what_it_ran_on() {
    const auto run = run_to_its_end(fixture_->request(3));
    const storage::Values environment = fixture_->detail(run.id).environment;
    for (const char* key : {kInputs, kEngineBuild, kFingerprint}) {
      QVERIFY2(environment.contains(key), key);
      QCOMPARE(std::get<std::string>(environment.at(key)).size(), size_t(16));
    }
    QVERIFY(std::get<std::string>(environment.at(kMachine)).find(" cores, ") != std::string::npos);
    QVERIFY(environment.contains("mode"));
  }

  void the_same_again_has_the_same_recipe_and_says_so() {
    LaunchRequest request = fixture_->request(3);
    request.mode = "eager";
    request.sets = {"optimizer.lr=1e-4"};
    const auto run = run_to_its_end(request);
    const Reproduction same = must(plan(run.id));
    QVERIFY2(same.differences.empty(), same.differences.empty() ? "" : same.differences[0].c_str());
    QCOMPARE(same.same.size(), size_t(3));
    QCOMPARE(same.request.name, std::string("debug again"));
    QCOMPARE(same.request.mode, std::string("eager"));
    const auto second = run_to_its_end(same.request);
    QCOMPARE(fixture_->detail(second.id).recipe, fixture_->detail(run.id).recipe);
    QVERIFY(fixture_->detail(second.id).environment.at(kInputs) ==
            fixture_->detail(run.id).environment.at(kInputs));
  }

  void other_data_and_an_other_engine_are_named() {
    const auto run = run_to_its_end(fixture_->request(3));
    std::ofstream(fixture_->path("corpus.txt")) << "To be, or not to be!\n";
    const Reproduction changed = must(plan(run.id));
    QCOMPARE(changed.differences.size(), size_t(1));
    QVERIFY2(changed.differences[0].starts_with("data: it was "), changed.differences[0].c_str());
    // A run of an earlier Heddle has recorded nothing.
    const auto writer = must(storage::Writer::open(fixture_->store));
    must(writer->set_environment(run.id, {{kEngineBuild, std::string("0123456789abcdef")}}).get());
    QCOMPARE(must(plan(run.id)).differences.size(), size_t(2));
  }

  void a_run_that_continued_another_is_reproduced() {
    LaunchRequest first = fixture_->request(6);
    first.sets = {"checkpoint.every=2"};
    const auto parent = run_to_its_end(first);
    auto reader = must(storage::Reader::open(fixture_->store));
    const Continuation fork = must(plan_continuation(reader, {.kind = storage::Lineage::Kind::fork,
                                                              .parent = fixture_->detail(parent.id),
                                                              .checkpoint = "2"}));
    const auto forked = run_to_its_end(fork.launch);
    const Reproduction again = must(plan(forked.id));
    QVERIFY(std::ranges::count(again.same, std::string("start after step 2 of debug")) == 1);
    const auto second = run_to_its_end(again.request);
    const storage::RunDetail detail = fixture_->detail(second.id);
    QCOMPARE(detail.summary.lineage->parent, parent.id);
    QCOMPARE(detail.summary.lineage->step, int64_t(2));
    const auto losses = [&](storage::RunId run) {
      std::vector<double> values;
      for (const auto& sample : must(reader.samples(run, "loss", 0)))
        values.push_back(sample.value);
      return values;
    };
    QCOMPARE(losses(second.id).size(), size_t(4));
    QCOMPARE(losses(second.id), losses(forked.id));
  }

  void a_run_whose_checkpoint_is_gone_is_not_reproduced() {
    const auto run = run_to_its_end(fixture_->request(3));
    storage::RunDetail resumed = fixture_->detail(run.id);
    resumed.summary.lineage = {storage::Lineage::Kind::resume, run.id, "debug", 1};
    auto reader = must(storage::Reader::open(fixture_->store));
    const auto refused = plan_reproduction(reader, resumed);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.starts_with(
                 "debug is a resume of debug after step 1, and that checkpoint is needed: "),
             refused.error().message.c_str());
    resumed.summary.lineage->parent = 0;
    const auto removed = plan_reproduction(reader, resumed);
    QVERIFY(!removed);
    QVERIFY(removed.error().message.ends_with("debug is not in this store"));
  }

  void the_shell_says_what_is_the_same_and_what_is_not() {
    const auto run = run_to_its_end(fixture_->request(3));
    std::ofstream(fixture_->path("corpus.txt")) << "To be, or not to be!\n";
    const auto done =
        must(process::run({.argv = {HEDDLE_BINARY_DIR "/command_driver", "launch", "--reproduce",
                                    run.name, "--wait", "--store", fixture_->store},
                           .deadline = std::chrono::seconds(60)}));
    QVERIFY2(done.exit_code == 0, (done.out + done.err).c_str());
    QVERIFY2(done.out.starts_with("debug again, with the same engine build "), done.out.c_str());
    QVERIFY2(done.err.find("not the same: data: it was ") != std::string::npos, done.err.c_str());
    QVERIFY2(done.out.find("debug again is done after 3 steps") != std::string::npos,
             done.out.c_str());
  }
};

HEDDLE_TEST(ReproductionTest)
#include "reproduction_test.moc"
