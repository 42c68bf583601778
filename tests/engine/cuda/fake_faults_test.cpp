// Failures on GPUs that are not there: each ends the run with its cause, and soon.
#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTest>
#include <csignal>

#include "fake_gpus.h"
#include "tests/support/test_class.h"

class FakeFaultsTest : public QObject {
  Q_OBJECT

 private:
  static constexpr const char* kTables = R"(
[training]
steps = 12
[telemetry]
profile_every = 5
[timeouts]
start = 6
step = 2
checkpoint = 2
)";
  // To its fault a run may take kStart; from there until the fault is seen as long as the longest
  // of the limits above, and 20 s until nothing of the run is left.
  static constexpr int kStart = 90'000, kLimit = 6'000 + 20'000;
  qint64 longest_ = 0;

 private Q_SLOTS:
  void cleanupTestCase() { qInfo("at most %.1f s from a fault to the end", longest_ * 1e-3); }

  void a_failure_ends_the_run_with_its_cause_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("faults");
    QTest::addColumn<QString>("cause");  // a pattern, in what is said at the end
    const auto row = [](const char* name, int ranks, const char* faults, const QString& cause) {
      QTest::newRow(name) << ranks << QString(faults) << cause;
    };
    // Found by the watchdog.
    const auto stuck = [](const char* collective, const char* seconds = "\\d") {
      return QString(collective) + ".* of group \\S+ has not ended after " + seconds +
             " s: .*last collectives: rank";
    };
    const auto watched = [&](const char* name, int ranks, const char* faults,
                             const char* collective = "") {
      row(name, ranks, faults, stuck(collective) + " 0");
    };
    const QString no_memory = "GiB of GPU memory|out of memory",
                  not_connected = "NCCL has not connected the ranks of group \\S+ after 6 s",
                  launch_failed = "unspecified launch failure",
                  // Itself, or another rank that could not record with it.
        of_rank_1 = "rank 1(:| .*:) CUDA error: .*";
    // Memory.
    row("no memory for the states", 1,
        "0 ncclMemAlloc 1 fails 1;0 cudaMalloc 3 fails 2;0 cudaMalloc 4 fails 2", no_memory);
    row("no memory on one rank of two", 2,
        "1 ncclMemAlloc 2 fails 1;1 cudaMalloc 3 fails 2;1 cudaMalloc 4 fails 2",
        "rank 1 .*(" + no_memory + ")");
    row("no pinned memory", 2, "1 cudaHostAlloc 3 fails 2", "rank 1 .*out of memory");
    // Start.
    row("NCCL gives no id", 2, "0 ncclGetUniqueId 1 fails 2",
        "rank 0 .*NCCL does not start on rank 0: unhandled system error");
    row("NCCL does not connect", 2, "1 ncclCommInitRank 1 fails 2",
        "rank 1 .*NCCL cannot connect the ranks of group \\S+ on rank 1: unhandled system error");
    row("NCCL's start hangs", 2, "1 ncclCommInitRank 1 hangs", not_connected);
    row("NCCL's start hangs on one of eight", 8, "5 ncclCommInitRank 1 hangs", not_connected);
    row("a GPU is busy", 2, "1 cudaSetDevice 1 fails 46", "rank 1 .*busy or unavailable");
    row("cuBLAS does not start", 2, "1 cublasCreate 1 fails 3", "rank 1 .*(cublas|CUBLAS)");
    // A collective, step by step.
    row("a gather fails", 2, "0 ncclAllGather 9 fails 3",
        "NCCL fails on rank 0 in #\\d+ all-gather .* of group \\S+: internal error");
    row("a sum fails", 2, "1 ncclReduceScatter 1 fails 1",
        "NCCL fails on rank 1 in #\\d+ reduce-scatter .* of group \\S+: unhandled cuda error");
    row("a gather stalls at the start", 2, "1 ncclAllGather 2 stalls",
        stuck("#\\d+ all-gather", "6") + " 0");
    watched("a gather stalls in the first step", 2, "1 ncclAllGather 12 stalls", "all-gather");
    watched("a sum stalls", 2, "0 ncclReduceScatter 3 stalls", "reduce-scatter");
    watched("a sum of numbers stalls", 2, "1 ncclAllReduce 4 stalls", "all-reduce");
    row("one of eight stalls", 8, "6 ncclAllReduce 5 stalls", stuck(""));
    row("NCCL hangs on the host", 2, "1 ncclGroupEnd 14 stalls",
        "of group \\S+ has not ended after \\d s: (rank 1 lags|all ranks)");
    row("the other side is gone", 2, "0 ncclCommGetAsyncError 2 fails 6",
        "NCCL reports on rank 0 in group \\S+: remote process exited");
    row("a collective stalls and abort hangs", 2,
        "1 ncclReduceScatter 2 stalls;0 ncclCommAbort 1 hangs;1 ncclCommAbort 1 hangs",
        "reduce-scatter .* of group \\S+ has not ended after \\d s");
    // Kernels and the device.
    row("a kernel cannot be launched", 1, "0 kernel 30 fails 719", launch_failed);
    row("a kernel's address is wrong", 2, "1 kernel 60 late 700",
        "rank 1 .*an illegal memory access");
    row("an ECC error in a step", 2, "1 kernel 50 breaks 214", "rank 1 .*uncorrectable ECC error");
    row("an ECC error in a replayed step", 2, "0 cudaGraphLaunch 2 breaks 214",
        "rank 0 .*uncorrectable ECC error");
    row("a GPU falls off the bus", 2, "1 cudaEventRecord 90 breaks 46",
        of_rank_1 + "busy or unavailable");
    row("an NVLink error", 8, "3 kernel 70 breaks 220", "rank 3 .*uncorrectable NVLink error");
    row("an event cannot be asked", 2, "1 cudaEventSynchronize 2 fails 719",
        "rank 1 .*" + launch_failed);
    watched("a kernel never ends", 2, "1 kernel 40 stalls");
    row("a copy fails", 2, "0 cudaMemcpyAsync 40 fails 719", "rank 0 .*" + launch_failed);
    // Recording.
    row("recording cannot begin", 2, "1 cudaStreamBeginCapture 1 breaks 719",
        of_rank_1 + launch_failed);
    watched("NCCL hangs while it is recorded", 2, "1 ncclGroupEnd@capture 2 stalls");
    row("a rank gives up while the others record", 2, "1 kernel@capture 12 fails 2",
        "CUDA graph: .*rank 1: .*out of memory");
    row("one of eight gives up", 8, "7 kernel@capture 20 fails 2",
        "CUDA graph: .*rank 7: .*out of memory");
    watched("a replayed collective stalls", 2, "1 ncclAllReduce@capture 2 stalls", "all-reduce");
    watched("a launch stalls", 2, "0 cudaGraphLaunch 3 stalls");
    row("one of eight stalls in a replay", 8, "2 ncclAllReduce@capture 1 stalls", stuck(""));
  }
  void a_failure_ends_the_run_with_its_cause() {
    QFETCH(int, ranks);
    QFETCH(QString, faults);
    QFETCH(QString, cause);
    const FakeGpus gpus(gpu_recipe(kTables), {"FAKE_CUDA_FAULTS=" + faults});
    const auto process =
        gpus.start_training(ranks, ranks == 8 ? QStringList{"parallelism.tp=2"} : QStringList());
    const auto struck = [&] {
      int found = 0;
      for (int rank = 0; rank < ranks; ++rank) found += count(gpus.notes(rank), "fault");
      return found > 0;
    };
    QElapsedTimer timer;
    timer.start();
    while (!struck() && timer.elapsed() < kStart && !process->waitForFinished(100)) {
    }
    QVERIFY2(struck(), "the fault never came");
    timer.restart();
    const bool ended = process->state() == QProcess::NotRunning || process->waitForFinished(kLimit);
    if (!ended) ::kill(static_cast<pid_t>(process->processId()), SIGQUIT);
    const QString said = process->readAllStandardError();
    QVERIFY2(ended, qPrintable(said));
    longest_ = std::max(longest_, timer.elapsed());
    QCOMPARE(gpus.left(), QStringList());
    QVERIFY2(process->exitCode() != 0, qPrintable(said));
    const QString last = said.trimmed().split('\n').last();
    QVERIFY2(last.contains(QRegularExpression(cause)), qPrintable(said));
  }

  // A step that cannot be recorded is run, on all ranks.
  void a_recording_that_fails_everywhere_costs_speed_alone_data() {
    QTest::addColumn<QString>("faults");
    QTest::newRow("at its beginning")
        << "0 cudaStreamBeginCapture 1 fails 900;1 cudaStreamBeginCapture 1 fails 900";
    QTest::newRow("at its end, on one rank") << "1 cudaStreamEndCapture 1 fails 901";
    QTest::newRow("when it is made ready, on one rank") << "0 cudaGraphInstantiate 1 fails 2";
  }
  void a_recording_that_fails_everywhere_costs_speed_alone() {
    QFETCH(QString, faults);
    const FakeGpus gpus(gpu_recipe(kTables), {"FAKE_CUDA_FAULTS=" + faults});
    const EngineResult run = gpus.train(2);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QVERIFY2(run.out.contains("steps are launched operator by operator"), run.out.constData());
    for (int rank = 0; rank < 2; ++rank) QCOMPARE(count(gpus.notes(rank), "launch"), 0);
  }
};

HEDDLE_TEST(FakeFaultsTest)
#include "fake_faults_test.moc"
