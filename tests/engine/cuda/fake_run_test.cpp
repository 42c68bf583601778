// Whole runs of the plug-in and of LibTorch's CUDA library on GPUs that are not there: what is
// allocated and when, what recording allows, that a run ends as it should. Kernels and products are
// not computed, so no number of the model is looked at.
#include <QJsonArray>
#include <QTest>
#include <csignal>

#include "fake_gpus.h"
#include "tests/support/test_class.h"

class FakeRunTest : public QObject {
  Q_OBJECT

 private:
  static constexpr const char* kTables = R"(
[training]
steps = 10
[validation]
text = ["%1tinyshakespeare.txt"]
every = 4
batches = 1
[checkpoint]
every = 5
[telemetry]
profile_every = 3
)";

  // cudaGraphInstantiateFlagUseNodePriority
  static constexpr int kUseNodePriority = 8;

  // Behind the first kernel of the model, which is the first step's.
  static QStringList after_the_start(const QStringList& notes) {
    for (qsizetype i = 0; i < notes.size(); ++i)
      if (notes[i].startsWith("kernel") && notes[i].contains("rms_norm")) return notes.mid(i + 1);
    return {};
  }

 private Q_SLOTS:
  void runs_end_as_they_should_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QStringList>("sets");
    QTest::newRow("one GPU") << 1 << QStringList{};
    QTest::newRow("micro-batches") << 1 << QStringList{"training.global_batch=4"};
    QTest::newRow("tokens by the thousand") << 1 << QStringList{"training.local_batch=64"};
    QTest::newRow("sharded over two") << 2 << QStringList{};
    QTest::newRow("two replicas") << 2 << QStringList{"parallelism.dp_replicate=2"};
    QTest::newRow("tensor parallel") << 2 << QStringList{"parallelism.tp=2"};
    QTest::newRow("context parallel")
        << 2
        << QStringList{"parallelism.cp=2", "data.seq_len=128", "parallelism.cp_mode=\"ulysses\""};
    QTest::newRow("pipeline") << 2 << QStringList{"parallelism.pp=2", "training.global_batch=4"};
    QTest::newRow("the same bits each time") << 1 << QStringList{"training.deterministic=true"};
    QTest::newRow("the same bits, documents")
        << 2 << QStringList{"training.deterministic=true", "data.document_mask=true"};
    QTest::newRow("the same bits, keys of two ranks")
        << 2 << QStringList{"training.deterministic=true", "parallelism.cp=2", "data.seq_len=128"};
    QTest::newRow("eight") << 8
                           << QStringList{"parallelism.tp=2", "parallelism.pp=2",
                                          "training.global_batch=8"};
  }
  void runs_end_as_they_should() {
    QFETCH(int, ranks);
    QFETCH(QStringList, sets);
    const FakeGpus gpus(gpu_recipe(kTables));
    const EngineResult run = gpus.train(ranks, sets);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QVERIFY2(beyond_the_plan(run.results()).isEmpty(), qPrintable(beyond_the_plan(run.results())));
    QCOMPARE(run.out.count("\"validation_loss\""), 2 * 1);
    QCOMPARE(folders_in(gpus.run_dir() + "/checkpoints").size(), 2);
    QVERIFY2(!run.out.contains("cannot be recorded"), run.out.constData());
    qint64 listed = 0, taken = 0;
    for (const QJsonValue& block : run.results()["device_blocks"].toArray())
      if (block["holder"] == "heddle") listed += block["bytes"].toInteger();
    for (const QString& note : gpus.notes(0))
      if (note.startsWith("ncclMemAlloc ")) taken += note.section(' ', 1).toLongLong();
    QVERIFY(taken > 0);
    QCOMPARE(listed, taken);
    for (int rank = 0; rank < ranks; ++rank) {
      const QStringList notes = gpus.notes(rank), later = after_the_start(notes);
      const QString all = notes.join('\n');
      QCOMPARE(count(notes, "illegal"), 0);
      QVERIFY2(!later.isEmpty(), qPrintable(all));
      // Steps 1 to 3 run, the others are one launch each; those that are timed are another one. So
      // are the batches of validation, from the fourth on.
      QVERIFY2(count(notes, "capture begins") >= 2, qPrintable(all));
      QVERIFY2(count(notes, "launch") >= 7, qPrintable(all));
      QVERIFY2(count(later, "cudaMalloc") + count(later, "ncclMemAlloc") == 0, qPrintable(all));
      QCOMPARE(count(notes, "communicator destroyed"), count(notes, "communicator of"));
      QCOMPARE(count(notes, "deregistered"), count(notes, "registered"));
    }
    QCOMPARE(gpus.left(), QStringList());
  }

  // The fake GPUs are of compute capability 8.0.
  void without_units_for_8_bits_products_are_bf16() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 4\n"));
    const EngineResult run = gpus.train(2, {"precision.float8=\"tensorwise\""});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QByteArray told = "has no units for 8 bits: products are bf16";
    QVERIFY2(run.out.contains(told), run.out.constData());
    QVERIFY2(beyond_the_plan(run.results()).isEmpty(), qPrintable(beyond_the_plan(run.results())));
  }

  // Without multiprocessors NCCL moves the contents of symmetric windows, as large on all ranks:
  // where stages of a pipeline have arenas of their own size there are none.
  void memory_is_a_window_where_the_copy_engines_shall_move_it() {
    const auto notes_of = [](int ranks, const QStringList& sets) {
      const FakeGpus gpus(gpu_recipe("[training]\nsteps = 6\n"));
      const EngineResult run = gpus.train(ranks, sets);
      if (run.exit_code != 0) qWarning("%s", run.err.constData());
      return gpus.notes(0);
    };
    const QStringList zero{"nccl.cta_policy=\"zero\""};
    const QStringList alike = notes_of(2, zero);
    QVERIFY2(count(alike, "window ") > 0, qPrintable(alike.join('\n')));
    QCOMPARE(count(alike, "closed window"), count(alike, "window "));
    QCOMPARE(count(alike, "registered"), 0);
    QCOMPARE(count(notes_of(2, {}), "window "), 0);
    const QStringList stages =
        notes_of(2, zero + QStringList{"parallelism.pp=2", "training.global_batch=4"});
    QVERIFY2(count(stages, "registered") > 0, qPrintable(stages.join('\n')));
    QCOMPARE(count(alike + stages, "illegal"), 0);
  }

  // Once steps are replayed: after each launch the host waits for the step before, and for nothing
  // else. Steps that are timed or end with a checkpoint or validation are waited for by themselves.
  void the_next_step_is_launched_before_the_numbers_of_this_one_are_read() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 12\n[telemetry]\nprofile_every = 0\n"));
    const EngineResult run = gpus.train(2);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["losses"].toArray().size(), 12);
    QCOMPARE(run.out.count("\"grad_norm\""), 12);
    for (int rank = 0; rank < 2; ++rank) {
      QString order;
      for (const QString& note : gpus.notes(rank)) {
        if (note == "launch") order += 'L';
        if (note == "waits for an event") order += 'e';
        if (note == "waits for a stream" && order.contains('L')) order += 's';
      }
      // Steps 4 to 12: nine launches, the wait for each but the last after the next launch.
      QVERIFY2(order.contains("LL" + QString("eL").repeated(7) + "ee"), qPrintable(order));
    }
  }

  // The fake device's streams have priorities from 0 to -5.
  void replayed_collectives_keep_the_priority_of_their_streams() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 6\n"));
    const EngineResult run = gpus.train(2);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["replayed"].toBool(), true);
    QStringList graphs = gpus.notes(0).filter("graph flags");
    QVERIFY(!graphs.isEmpty());
    for (const QString& graph : graphs) {
      QVERIFY2(graph.startsWith(QString("graph flags %1,").arg(kUseNodePriority)),
               qPrintable(graph));
      const QString collectives = graph.section("collectives ", 1);
      QVERIFY2(collectives.startsWith("-5 x ") && collectives.count('x') == 1, qPrintable(graph));
      QVERIFY2(graph.section("collectives", 0, 0).contains(" 0 x "), qPrintable(graph));
    }
  }

  // Gradients of linear layers: for the first micro-batch, and added to it for the others.
  void gradients_are_products_in_fp32() {
    for (const int micro_batches : {1, 3}) {
      const FakeGpus gpus(gpu_recipe("[training]\nsteps = 2\nlocal_batch = 2\n"));
      const EngineResult run =
          gpus.train(1, {QString("training.global_batch=%1").arg(2 * micro_batches)});
      QVERIFY2(run.exit_code == 0, run.err.constData());
      const int products = count(gpus.notes(0), "fp32 product of bf16"),
                sums = count(gpus.notes(0), "fp32 sum of bf16");
      // Seven for each of two layers, and the output's.
      QCOMPARE(products, 2 * 15);
      QCOMPARE(sums, 2 * 15 * (micro_batches - 1));
    }
  }

  // Blocks of keys add to one sum of dq in any order; for one order each block that the GPU runs at
  // a time (here 108 over 2 sequences and 4 heads) has its own.
  void attention_sums_in_one_order_where_the_recipe_says_so() {
    const auto blocks = [](const QStringList& sets) {
      const FakeGpus gpus(gpu_recipe("[training]\nsteps = 2\n"));
      const EngineResult run = gpus.train(1, sets);
      if (run.exit_code != 0) qWarning("%s", run.err.constData());
      for (const QString& note : gpus.notes(0))
        if (note.contains("flash_bwd_dq_dk_dv_loop")) return note.section(' ', 1, 1);
      return QString();
    };
    QCOMPARE(blocks({}), QString("1x2x4"));
    QCOMPARE(blocks({"training.deterministic=true"}), QString("14x2x4"));
  }

  void the_eager_mode_runs() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 3\n"));
    const EngineResult run = gpus.train(2, {}, {"--mode", "eager"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
  }

  void the_first_batch_is_evaluated() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 3\n"));
    for (const QStringList& sets :
         {QStringList{}, QStringList{"parallelism.pp=2", "parallelism.microbatches=1"},
          QStringList{"parallelism.cp=2", "data.seq_len=128"}}) {
      const EngineResult run =
          gpus.run(QStringList{"eval", gpus.path("recipe.toml"), "--to",
                               gpus.path("first.safetensors"), "--ranks", "2"} +
                   as_sets(sets));
      QVERIFY2(run.exit_code == 0, run.err.constData());
      QVERIFY(QFile::remove(gpus.path("first.safetensors")));
    }
  }

  void a_run_goes_on_from_its_checkpoint() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 4\n[checkpoint]\nevery = 2\n"));
    EngineResult run = gpus.train(2);
    QVERIFY2(run.exit_code == 0, run.err.constData());
    // Pinned memory is as large as what is written of a rank, to the page.
    qint64 pinned = 0;
    for (const QString& note : gpus.notes(0))
      if (note.startsWith("cudaHostAlloc"))
        pinned = std::max(pinned, note.section(' ', 1).toLongLong());
    const QString folder = gpus.run_dir() + "/checkpoints";
    const qint64 written =
        QFile(folder + "/" + folders_in(folder).last() + "/rank-0.safetensors").size();
    QVERIFY2(pinned > 0 && pinned <= written && written - pinned < 16384,
             qPrintable(QString("%1 pinned, %2 written").arg(pinned).arg(written)));
    run = gpus.train(2, {"training.steps=8"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["first_step"].toInt(), 5);
  }

  void a_run_stops_when_it_is_asked_to() {
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 100000\n"));
    const auto process = gpus.start_training(2);
    QTRY_VERIFY_WITH_TIMEOUT(count(gpus.notes(0), "launch") > 3, 120'000);
    QVERIFY2(gpus.left().size() >= 3,
             qPrintable(gpus.left().join(' ')));  // who starts the ranks, too
    ::kill(static_cast<pid_t>(process->processId()), SIGTERM);
    QVERIFY(process->waitForFinished(120'000));
    QCOMPARE(process->exitCode(), 130);
    QCOMPARE(gpus.left(), QStringList());
  }

  void gpus_that_are_not_there_are_told_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("none") << QStringList{"FAKE_CUDA_DEVICES=0"}
                          << QByteArray("this host has 0 usable GPUs, and rank");
    QTest::newRow("an old driver")
        << QStringList{"FAKE_CUDA_FAULTS=0 cudaGetDeviceCount 1 breaks 35;1 cudaGetDeviceCount 1 "
                       "breaks 35;2 cudaGetDeviceCount 1 breaks 35"}
        << QByteArray("no GPU can be used here: CUDA driver version is insufficient for CUDA "
                      "runtime version; CUDA 13 needs a driver 580 or later");
    QTest::newRow("too few") << QStringList{"FAKE_CUDA_DEVICES=2"}
                             << QByteArray(
                                    "this host has 2 usable GPUs, and rank 2 of it needs one "
                                    "more");
    QTest::newRow("the same one") << QStringList{"FAKE_CUDA_SAME=1"}
                                  << QByteArray("have the same GPU, and NCCL takes one for each");
  }
  void gpus_that_are_not_there_are_told() {
    QFETCH(QStringList, settings);
    QFETCH(QByteArray, says);
    const FakeGpus gpus(gpu_recipe("[training]\nsteps = 2\n"), settings);
    const EngineResult run = gpus.train(3);
    QVERIFY(run.exit_code != 0);
    QVERIFY2(run.err.contains(says), run.err.constData());
  }

  // A step that has no limit of its own keeps the device's.
  void a_plan_keeps_to_what_a_gpu_has_free() {
    const auto train = [](const QStringList& settings) {
      return FakeGpus(gpu_recipe("[training]\nsteps = 2\n"), settings)
          .train(2, {"model.dim=512", "model.n_layers=8", "model.ffn_dim=1024"});
    };
    const EngineResult roomy = train({}), tight = train({"FAKE_CUDA_MEMORY=1830000000"}),
                       none = train({"FAKE_CUDA_MEMORY=700000000"});
    QVERIFY2(roomy.exit_code == 0, roomy.err.constData());
    QVERIFY2(tight.exit_code == 0, tight.err.constData());
    const auto peak = [](const EngineResult& run) {
      return run.results()["peak_bytes"].toDouble();
    };
    constexpr double kFree =
        1830e6 - (500 << 20) - (1 << 30);  // without the context, and a reserve
    QVERIFY2(peak(roomy) > kFree, roomy.out.constData());
    QVERIFY2(peak(tight) > 0 && peak(tight) <= kFree, tight.out.constData());
    QVERIFY(none.exit_code != 0);
    QVERIFY2(none.err.contains("no 0.05 GiB of GPU memory for the step"), none.err.constData());
  }
};

HEDDLE_TEST(FakeRunTest)
#include "fake_run_test.moc"
