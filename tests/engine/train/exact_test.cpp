// However the step is planned, it is the eager step, bit for bit: losses, and weights and moments
// after five steps. By default each wrapping meets each number of ranks with one kind of
// recomputation; with `HEDDLE_ALL=1` with all of them.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"
#include "tests/support/trained.h"

using heddle::test::read_bytes;
using heddle::test::trained_once;
using heddle::test::write_bytes;

namespace {

struct Wrapping {
  const char* name;
  QStringList sets;
};

QStringList sets(std::initializer_list<QString> values) {
  QStringList options;
  for (const QString& value : values) options << "--set" << value;
  return options;
}

// Three manual plans: one bucket, two that split layers, one a layer's half with shuffled others.
const QString kOneBucket = R"([["tok_embeddings","layers.0-2","norm","output"]])";
const QString kHalves =
    R"([["tok_embeddings","layers.0","layers.1.attention_norm","layers.1.attention"],)"
    R"(["layers.1.ffn_norm","layers.1.feed_forward","layers.2","norm","output"]])";
const QString kShuffled =
    R"([["output","tok_embeddings"],["layers.2","layers.0"],["norm"],["layers.1"]])";

QList<Wrapping> wrappings() {
  auto manual = [](const QString& buckets) {
    return sets({"wrapping.mode=\"manual\"", "wrapping.buckets=" + buckets});
  };
  return {{"none", sets({"wrapping.mode=\"none\""})},
          {"layers", sets({"wrapping.mode=\"layers\""})},
          {"one bucket", manual(kOneBucket)},
          {"halves", manual(kHalves)},
          {"shuffled", manual(kShuffled)},
          {"auto", sets({"wrapping.mode=\"auto\""})},
          {"kept", sets({"wrapping.mode=\"layers\"", "wrapping.reshard_after_forward=false"})}};
}

const QStringList kRecompute = {"none", "full", "selective", "budget"};

}  // namespace

class ExactTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QByteArray recipe_;

  struct Trained {
    QJsonArray losses;
    QByteArray states;  // weights and moments
    QJsonObject results;
  };
  static Trained results_of(const EngineResult& run, const QString& checkpoints) {
    QByteArray states;
    const QDir step(checkpoints + "/step-5");
    for (const QString& name : step.entryList({"rank-*.safetensors"}, QDir::Files, QDir::Name))
      states += read_bytes(step.filePath(name));
    return {run.results()["losses"].toArray(), states, run.results()};
  }
  Trained train_eagerly(const QString& ranks, const QStringList& more) {
    const auto done =
        trained_once(recipe_, QStringList{"--ranks", ranks, "--mode", "eager"} + more);
    return results_of(done.run, done.checkpoints);
  }
  Trained train_planned(const QString& ranks, const QStringList& more) {
    const QString folder = folder_.filePath("checkpoints");
    const auto run =
        run_engine(QStringList{"train", folder_.filePath("recipe.toml"), "--ranks", ranks, "--mode",
                               "planned", "--set", "checkpoint.folder=\"" + folder + "\""} +
                   more);
    if (run.exit_code != 0) qWarning("%s", run.err.constData());
    const Trained trained = results_of(run, folder);
    QDir(folder).removeRecursively();
    return trained;
  }

  void same(const QString& ranks, const QStringList& planned, const QStringList& shared) {
    const Trained eager = train_eagerly(ranks, shared);
    QCOMPARE(eager.losses.size(), 5);
    QVERIFY(!eager.states.isEmpty());
    const Trained run = train_planned(ranks, planned + shared);
    QCOMPARE(run.losses, eager.losses);
    QVERIFY2(run.states == eager.states, "weights or moments differ");
    QCOMPARE(beyond_the_plan(run.results), "");
  }

 private Q_SLOTS:
  void initTestCase() {
    recipe_ = small_recipe(R"(
[training]
steps = 5
local_batch = 2
[optimizer]
lr = 1e-2
)",
                           3);
    QVERIFY(write_bytes(folder_.filePath("recipe.toml"), recipe_));
  }

  void every_wrapping_and_recomputation_data() {
    QTest::addColumn<QString>("ranks");
    QTest::addColumn<QStringList>("planned");
    const bool all = qEnvironmentVariableIsSet("HEDDLE_ALL");
    int turn = 0;
    const QStringList of_ranks = all ? QStringList{"1", "2", "3", "4"} : QStringList{"1", "2", "4"};
    for (const QString& ranks : of_ranks)
      for (const Wrapping& wrapping : wrappings())
        for (int i = 0; i < (all ? kRecompute.size() : 1); ++i) {
          const QString mode = kRecompute[(turn++) % kRecompute.size()];
          QTest::addRow("%s ranks, %s, recompute %s", qPrintable(ranks), wrapping.name,
                        qPrintable(mode))
              << ranks << wrapping.sets + QStringList{"--set", "recompute.mode=\"" + mode + "\""};
        }
  }
  void every_wrapping_and_recomputation() {
    QFETCH(QString, ranks);
    QFETCH(QStringList, planned);
    same(ranks, planned, {});
  }

  void other_steps_data() {
    QTest::addColumn<QString>("ranks");
    QTest::addColumn<QStringList>("shared");
    auto row = [](const char* name, const char* ranks, const QStringList& shared) {
      QTest::newRow(name) << QString(ranks) << shared;
    };
    // Combines two other rows.
    auto combined = [&](const char* name, const char* ranks, const QStringList& shared) {
      if (qEnvironmentVariableIsSet("HEDDLE_ALL")) row(name, ranks, shared);
    };
    row("accumulation", "2", sets({"training.global_batch=12"}));
    combined("accumulation on one rank", "1", sets({"training.global_batch=6"}));
    row("accumulation of shards", "2",
        sets({"training.global_batch=12", "wrapping.reduce_each=\"micro-batch\""}));
    for (const char* states : {"gradients", "optimizer"})
      row(states, "2",
          sets({"training.global_batch=12",
                QString("parallelism.dp_shard_states=\"%1\"").arg(states)}));
    row("no clipping", "3", sets({"training.max_norm=0"}));
    combined("no clipping on one rank", "1", sets({"training.max_norm=0"}));
    row("tied embeddings", "3", sets({"model.tied_embeddings=true"}));
    row("loss in chunks", "2", sets({"training.loss_chunks=4", "training.global_batch=8"}));
    row("loss in chunks, bf16, tied embeddings", "1",
        sets({"training.loss_chunks=2", "precision.param=\"bf16\"", "model.tied_embeddings=true"}));
    row("hsdp 2x2", "4", sets({"parallelism.dp_replicate=2"}));
    row("ddp", "2", sets({"parallelism.dp_replicate=2"}));
    combined("hsdp with accumulation", "4",
             sets({"parallelism.dp_replicate=2", "training.global_batch=16"}));
    row("hsdp with accumulation of shards", "4",
        sets({"parallelism.dp_replicate=2", "training.global_batch=16",
              "wrapping.reduce_each=\"micro-batch\""}));
    row("bf16", "2", sets({"precision.param=\"bf16\""}));
    row("bf16 on one rank", "1", sets({"precision.param=\"bf16\""}));
    row("bf16, matrices narrower than a block", "1",
        sets({"precision.param=\"bf16\"", "model.dim=8", "model.n_heads=1", "model.n_kv_heads=1",
              "model.vocab_size=4096", "data.seq_len=7"}));
    row("bf16 reduced in bf16", "3",
        sets({"precision.param=\"bf16\"", "precision.reduce=\"bf16\""}));
    // One product for several weights, which lie side by side without being copied.
    const auto joined = [](std::initializer_list<QString> more) {
      return sets({"model.dim=64", "model.n_heads=4", "model.n_kv_heads=2", "model.ffn_dim=128",
                   "precision.param=\"bf16\""}) +
             sets(more);
    };
    row("weights side by side", "2", joined({}));
    row("weights side by side, biases, accumulation", "2",
        joined({"model.attention_bias=true", "model.mlp_bias=true", "training.global_batch=12"}));
    row("weights side by side, tensor parallel", "2", joined({"parallelism.tp=2"}));
    row("weights side by side, norms of queries and keys", "2", joined({"model.qk_norm=true"}));
    row("weights side by side, gathered once", "2",
        joined({"training.global_batch=12", "parallelism.dp_shard_states=\"gradients\""}));
    // Sides that products in 8 bits can have.
    const auto float8 = [](const char* scales, std::initializer_list<QString> more = {}) {
      return sets({"precision.param=\"bf16\"", QString("precision.float8=\"%1\"").arg(scales),
                   "model.dim=64", "model.n_heads=4", "model.n_kv_heads=2", "model.ffn_dim=96"}) +
             sets(more);
    };
    row("8 bits, a scale a tensor", "2", float8("tensorwise"));
    row("8 bits, a scale a row", "2", float8("rowwise"));
    row("8 bits, parameters gathered once", "3",
        float8("tensorwise", {"wrapping.reshard_after_forward=false", "training.global_batch=12"}));
    row("8 bits, hsdp, all computed again, the output too", "4",
        float8("tensorwise", {"parallelism.dp_replicate=2", "recompute.mode=\"full\"",
                              "precision.float8_except=[]", "training.global_batch=16"}));
    row("8 bits, states alone sharded", "2",
        float8("tensorwise", {"parallelism.dp_shard_states=\"optimizer\""}));
    row("8 bits, tensor parallel shards", "4",
        float8("tensorwise", {"parallelism.tp=2", "parallelism.dp_shard=2"}));
    row("8 bits on one rank, the tied output too", "1",
        float8("tensorwise", {"precision.float8_except=[]", "model.tied_embeddings=true"}));
    row("8 bits, tensor parallel, a layer left out", "2",
        float8("rowwise",
               {"parallelism.tp=2", "precision.float8_except=[\"output\",\"layers.1\"]"}));
    combined("8 bits, context parallel, accumulation", "2",
             float8("tensorwise", {"parallelism.cp=2", "training.global_batch=4"}));
    combined("bf16 with accumulation", "2",
             sets({"precision.param=\"bf16\"", "training.global_batch=12"}));
  }
  void other_steps() {
    QFETCH(QString, ranks);
    QFETCH(QStringList, shared);
    same(ranks, sets({"wrapping.mode=\"layers\"", "recompute.mode=\"full\""}), shared);
  }

  // In every mode of recomputation.
  void inputs_gathered_again_data() {
    QTest::addColumn<QString>("mode");
    for (const QString& mode : kRecompute) QTest::newRow(qPrintable(mode)) << mode;
  }
  void inputs_gathered_again() {
    QFETCH(QString, mode);
    const QStringList two = sets({"parallelism.tp=2", "model.n_heads=4", "model.n_kv_heads=2",
                                  "model.dim=64", "training.global_batch=4"});
    for (const char* again : {"true", "false"})
      same("2",
           sets({"recompute.mode=\"" + mode + "\"",
                 QString("parallelism.tp_gather_again=%1").arg(again)}),
           two);
  }
};

HEDDLE_TEST(ExactTest)
#include "exact_test.moc"
