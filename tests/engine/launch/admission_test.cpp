// Whether ranks fit on a host: judged by numbers, and refused by the programs that would start
// them.
#include "engine/launch/admission.h"

#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <filesystem>
#include <fstream>

#include "engine/runs/run_files.h"
#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::launch;
using namespace heddle::runs;
using heddle::test::read_text;
using Verdict = probe::Status;

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
const QString kRecipe = HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml";

probe::Report host(int64_t cores, int64_t free) {
  probe::Report report;
  report.cores = cores;
  report.memory_bytes = 64 * kGiB;
  report.available_bytes = free;
  return report;
}

}  // namespace

class AdmissionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

 private Q_SLOTS:
  void numbers_are_judged_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<double>("each");  // GiB
    QTest::addColumn<int>("cores");
    QTest::addColumn<double>("free");  // GiB
    QTest::addColumn<bool>("overcommit");
    QTest::addColumn<Verdict>("of_cores");
    QTest::addColumn<Verdict>("of_memory");
    const auto add = [](const char* name, int ranks, double each, int cores, double free,
                        bool overcommit, Verdict of_cores, Verdict of_memory) {
      QTest::newRow(name) << ranks << each << cores << free << overcommit << of_cores << of_memory;
    };
    add("room for all", 4, 1, 8, 16, false, Verdict::pass, Verdict::pass);
    add("more ranks than cores", 4, 1, 2, 16, false, Verdict::warn, Verdict::pass);
    add("just enough memory", 4, 1, 8, 4.6, false, Verdict::pass, Verdict::warn);
    add("too little memory", 4, 1, 8, 4, false, Verdict::pass, Verdict::fail);
    add("not even one", 1, 8, 8, 4, false, Verdict::pass, Verdict::fail);
    add("an absurd number", 1000, 0.1, 2, 20, false, Verdict::fail, Verdict::fail);
    add("all the same", 1000, 0.1, 2, 20, true, Verdict::warn, Verdict::warn);
  }
  void numbers_are_judged() {
    QFETCH(int, ranks);
    QFETCH(double, each);
    QFETCH(int, cores);
    QFETCH(double, free);
    QFETCH(bool, overcommit);
    QFETCH(Verdict, of_cores);
    QFETCH(Verdict, of_memory);
    Demand demand;
    demand.ranks = ranks;
    demand.rank_bytes = static_cast<int64_t>(each * kGiB);
    demand.shared_bytes = kGiB / 4;
    const auto checks = judge(demand, host(cores, static_cast<int64_t>(free * kGiB)), overcommit);
    QCOMPARE(checks.size(), size_t{2});
    QCOMPARE(checks[0].status, of_cores);
    QCOMPARE(checks[1].status, of_memory);
    for (const probe::Check& check : checks) {
      QCOMPARE(check.advice.empty(), check.status == Verdict::pass);
      if (check.status == Verdict::fail)
        QVERIFY(check.advice.find("hardware.overcommit = true") != std::string::npos);
    }
  }

  // A second attempt with the number that is named is not refused with another one.
  void one_limit_is_named_by_all_checks_data() {
    QTest::addColumn<int>("cores");
    QTest::addColumn<double>("free");  // GiB
    QTest::addColumn<int>("most");
    QTest::newRow("memory is the tighter one") << 2 << 20.25 << 40;
    QTest::newRow("cores are") << 1 << 100.25 << 32;
  }
  void one_limit_is_named_by_all_checks() {
    QFETCH(int, cores);
    QFETCH(double, free);
    QFETCH(int, most);
    Demand demand;
    demand.ranks = 1000;
    demand.rank_bytes = kGiB / 2;
    demand.shared_bytes = kGiB / 4;
    const probe::Report report = host(cores, static_cast<int64_t>(free * kGiB));
    const std::string named = fmt::format("valid: at most {} ranks of this size here", most);
    for (const probe::Check& check : judge(demand, report, false)) {
      QCOMPARE(check.status, Verdict::fail);
      QVERIFY2(check.advice.find(named) != std::string::npos, check.advice.c_str());
    }
    demand.ranks = most;
    for (const probe::Check& check : judge(demand, report, false))
      QVERIFY(check.status != Verdict::fail);
  }

  void what_not_even_one_rank_fits_names_no_number() {
    Demand demand;
    demand.ranks = 1000;
    demand.rank_bytes = 8 * kGiB;
    for (const probe::Check& check : judge(demand, host(2, 4 * kGiB), false))
      QVERIFY2(check.advice.find("at most") == std::string::npos, check.advice.c_str());
  }

  void a_gpu_is_one_rank_s() {
    Demand demand;
    demand.ranks = 4;
    demand.on_gpus = true;
    demand.gpu_bytes = 60 * kGiB;
    probe::Report report = host(64, 60 * kGiB);
    const auto of = [&] { return judge(demand, report, false).front(); };
    QCOMPARE(of().status, Verdict::fail);
    report.gpus.assign(2, {"H100", 80 * kGiB, "580"});
    QCOMPARE(of().status, Verdict::fail);
    report.gpus.assign(4, {"H100", 80 * kGiB, "580"});
    QCOMPARE(of().status, Verdict::pass);
    report.gpus[3].memory_bytes = 40 * kGiB;
    QCOMPARE(of().status, Verdict::fail);
  }

  // Memory of a GPU that somebody else holds is not available.
  void a_gpu_in_use_has_less_room() {
    Demand demand;
    demand.ranks = 2;
    demand.on_gpus = true;
    demand.gpu_bytes = 60 * kGiB;
    probe::Report report = host(64, 60 * kGiB);
    report.gpus.assign(2, {"H100", 80 * kGiB, "580"});
    report.gpus[0].free_bytes = report.gpus[1].free_bytes = 79 * kGiB;
    QCOMPARE(judge(demand, report, false).front().status, Verdict::pass);
    report.gpus[1].free_bytes = 20 * kGiB;
    const probe::Check check = judge(demand, report, false).front();
    QCOMPARE(check.status, Verdict::fail);
    QCOMPARE(check.value,
             std::string("2 ranks on 2 GPUs of 80.0 GiB (20.0 GiB free); a rank needs 60.0 GiB"));
  }

  // Four ranks on two GPUs: two need twice as much of one.
  void ranks_share_gpus_whose_data_goes_through_the_host() {
    Demand demand;
    demand.ranks = 4;
    demand.on_gpus = demand.shares_gpus = true;
    demand.gpu_bytes = 30 * kGiB;
    probe::Report report = host(64, 60 * kGiB);
    report.gpus.assign(2, {"H100", 80 * kGiB, "580"});
    const auto gpus = [&] { return judge(demand, report, false).front(); };
    QCOMPARE(gpus().status, Verdict::pass);
    QVERIFY2(gpus().value.ends_with("2 ranks share one"), gpus().value.c_str());
    demand.gpu_bytes = 50 * kGiB;
    QCOMPARE(gpus().status, Verdict::fail);
  }

  void train_refuses_what_does_not_fit() {
    const QString run_dir = folder_.filePath("train");
    const auto run = run_engine({"train", kRecipe, "--ranks", "1000", "--run-dir", run_dir});
    QCOMPARE(run.exit_code, 2);
    for (const char* part : {"hardware.ranks: cores: 1,000 ranks on ", "1,000 ranks need ",
                             " are free", "hardware.overcommit = true"})
      QVERIFY2(run.err.contains(part), run.err.constData());
    QVERIFY(!QFile::exists(run_dir + "/rank-0.err"));
    const auto end = read_end(run_dir.toStdString());
    QVERIFY(end && *end);
    QCOMPARE((*end)->state, std::string("failed"));
    QCOMPARE((*end)->exit_code, 2);
  }

  void a_supervisor_refuses_too() {
    const std::string run_dir = folder_.filePath("supervise").toStdString();
    std::filesystem::create_directories(run_dir);
    // As the workbench leaves it: the vocabulary's size is the tokenizer's.
    const std::string data = HEDDLE_SOURCE_DIR "/resources/data/";
    std::ofstream(run_dir + "/recipe.toml")
        << "[model]\npreset = \"llama3-405b\"\nvocab_size = 0\n[data]\ntext = [\"" << data
        << "tinyshakespeare.txt\"]\ntokenizer = \"" << data
        << "tokenizer.json\"\n[hardware]\nranks = 2\n";
    Launch launch;
    launch.run = "test";
    launch.world_size = launch.local_ranks = 2;
    QVERIFY(write_launch(run_dir, launch));
    const auto run = run_engine({"supervise", "--run-dir", QString::fromStdString(run_dir)});
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.contains("hardware.ranks: memory: 2 ranks need "), run.err.constData());
    const auto end = read_end(run_dir);
    QVERIFY(end && *end);
    QVERIFY2((*end)->cause.find("memory: 2 ranks need ") != std::string::npos,
             (*end)->cause.c_str());
    QVERIFY(!std::filesystem::exists(run_dir + "/rank-0.err"));
  }

  void what_is_scarce_is_told_before_the_start() {
    const int cores = QThread::idealThreadCount();
    const int ranks = cores + 1;
    if (ranks > 8) QSKIP("more ranks than a test should start are needed to fill these cores");
    const QString run_dir = folder_.filePath("scarce");
    const auto run = run_engine({"train", kRecipe, "--ranks", QString::number(ranks), "--run-dir",
                                 run_dir, "--set", "training.steps=10"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const std::string log = read_text(run_dir.toStdString() + "/supervisor.0.hlog");
    QVERIFY(log.find(std::to_string(ranks) + " ranks on " + std::to_string(cores) +
                     " cores; they "
                     "take turns") != std::string::npos);
  }
};

HEDDLE_TEST(AdmissionTest)
#include "admission_test.moc"
