// However ranks share the work, they train as one rank does: the losses of 20 steps and the final
// weights agree within 1e-4; and a step does what its plan says, no more. By default a few of the
// layouts; with `HEDDLE_ALL=1` all of them.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <cstring>
#include <optional>

#include "engine/checkpoint/safetensors.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"
#include "tests/support/trained.h"

namespace {

constexpr double kTolerance = 1e-4;

// Between two trainings: the most that a loss and a weight differ; the root mean square of weights.
struct Difference {
  double loss = 0, weight = 0, weights = 0;
};

struct TrainedLayout {
  const char* name;
  int ranks;
  QString keys;         // of [parallelism]: "tp=2 pp=2"
  bool always = false;  // not only with HEDDLE_ALL
};

QList<TrainedLayout> layouts() {
  QList<TrainedLayout> all = {
      {"dp_shard 2", 2, "", true},
      {"dp_shard 3", 3, ""},
      {"dp_shard 4", 4, ""},
      {"dp_replicate 2", 2, "dp_replicate=2"},
      {"hsdp 2x2", 4, "dp_replicate=2", true},
      {"ZeRO-2", 2, "dp_shard_states=\"gradients\""},
      {"ZeRO-1, hsdp 2x2", 4, "dp_replicate=2 dp_shard_states=\"optimizer\""},
      {"ZeRO-1, pp 2 dp 2", 4, "pp=2 microbatches=4 dp_shard_states=\"optimizer\""},
      {"tp 2", 2, "tp=2", true},
      {"tp 4", 4, "tp=4"},
      {"tp 2, inputs kept", 2, "tp=2 tp_gather_again=false", true},
      {"pp 2 tp 2 zero-bubble", 4, "pp=2 tp=2 pp_schedule=\"zero-bubble\" microbatches=4", true},
      {"pp 2 tp 2 zero-bubble, inputs kept", 4,
       "pp=2 tp=2 pp_schedule=\"zero-bubble\" microbatches=4 tp_gather_again=false"},
      {"pp 4 zero-bubble with room", 4,
       "pp=4 pp_schedule=\"zero-bubble\" microbatches=8 zero_bubble_limit=7"},
      {"pp 2 zero-bubble, one micro-batch held", 2,
       "pp=2 pp_schedule=\"zero-bubble\" microbatches=4 zero_bubble_limit=1", true},
      {"tp 2 without sequence parallelism", 2, "tp=2 sequence_parallel=false", true},
      {"tp 4 without sequence parallelism", 4, "tp=4 sequence_parallel=false"},
      {"tp 2 in 4 chunks", 2, "tp=2 tp_chunks=4", true},
      {"tp 4 in 2 chunks without sequence parallelism", 4,
       "tp=4 tp_chunks=2 sequence_parallel=false"},
      {"pp 2 tp 2 cp 2 in 2 chunks", 8, "pp=2 tp=2 cp=2 tp_chunks=2"},
      {"tp 2 dp 2", 4, "tp=2"},
      {"pp 2 dp 2", 4, "pp=2"},
      {"pp 2 tp 2", 4, "pp=2 tp=2"},
      {"cp 2 dp 2", 4, "cp=2"},
      {"cp 2 tp 2", 4, "cp=2 tp=2"},
      {"pp 2 tp 2 dp 2", 8, "pp=2 tp=2"},
      {"pp 2 cp 2 dp 2", 8, "pp=2 cp=2"},
      {"pp 2 tp 2 cp 2 dp 2", 16, "pp=2 tp=2 cp=2"},
      {"pp 2 tp 2 cp 2", 8, "pp=2 tp=2 cp=2", true},
      {"hsdp and tp 2", 8, "dp_replicate=2 tp=2"},
  };
  for (const char* mode : {"allgather", "ring", "ulysses"})
    for (const int ranks : {2, 4}) {
      static QList<QByteArray> names;
      names.push_back(QString("cp %1 %2").arg(ranks).arg(mode).toUtf8());
      all.push_back({names.back().constData(), ranks,
                     QString("cp=%1 cp_mode=\"%2\"").arg(ranks).arg(mode), ranks == 2});
    }
  for (const char* schedule : {"gpipe", "1f1b", "interleaved", "zero-bubble"})
    for (const int ranks : {2, 3, 4})
      for (const int parts : {1, 2, 4, 8}) {
        static QList<QByteArray> names;
        names.push_back(
            QString("pp %1 %2, %3 micro-batches").arg(ranks).arg(schedule).arg(parts).toUtf8());
        all.push_back({names.back().constData(), ranks,
                       QString("pp=%1 pp_schedule=\"%2\" microbatches=%3")
                           .arg(ranks)
                           .arg(schedule)
                           .arg(parts),
                       ranks == 2 && parts == 4});
      }
  return all;
}

using Weights = QMap<QString, QByteArray>;

Weights read(const QString& path) {
  Weights weights;
  const auto file = heddle::checkpoint::SafetensorsFile::open(path.toStdString());
  if (!file) return weights;
  for (const auto& tensor : file->tensors()) {
    const auto bytes = file->data(tensor);
    weights[QString::fromStdString(tensor.name)] =
        QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<int>(bytes.size()));
  }
  return weights;
}

// Calls `see` with the difference of each number.
template <typename See>
void for_differences(const QByteArray& a, const QByteArray& b, See&& see) {
  if (a.size() != b.size()) return see(INFINITY);
  for (int i = 0; i + 4 <= a.size(); i += 4) {
    float x = 0, y = 0;
    std::memcpy(&x, a.constData() + i, 4);
    std::memcpy(&y, b.constData() + i, 4);
    see(std::abs(static_cast<double>(x) - y));
  }
}

}  // namespace

class LayoutsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QByteArray recipe_;

  struct Trained {
    QJsonArray losses;
    Weights weights;
    QString beyond_the_plan;
  };
  QMap<QString, Trained> alone_;  // one rank's, by variant

  // AdamW's first steps are steady with a larger eps; SGD has none.
  static QStringList optimizer_of(const QString& variant) {
    return variant.contains("sgd") ? QStringList() : QStringList{"--set", "optimizer.eps=1e-6"};
  }

  Trained train(int ranks, const QString& parallelism, const QString& variant) {
    const QString folder = folder_.filePath("weights");
    QStringList arguments = {"train",   folder_.filePath("recipe.toml"),
                             "--ranks", QString::number(ranks),
                             "--set",   "checkpoint.folder=\"" + folder + "\""};
    for (const QString& key : parallelism.split(' ', Qt::SkipEmptyParts))
      arguments << "--set"
                << "parallelism." + key;
    for (const QString& key : variant.split(' ', Qt::SkipEmptyParts)) arguments << "--set" << key;
    arguments += optimizer_of(variant);
    const auto run = run_engine(arguments);
    if (run.exit_code != 0) qWarning("%s", run.err.constData());
    const Trained trained = results_of(run, folder);
    QDir(folder).removeRecursively();
    return trained;
  }
  static Trained results_of(const EngineResult& run, const QString& checkpoints) {
    return {run.results()["losses"].toArray(), read(exported(checkpoints + "/step-20")),
            beyond_the_plan(run.results())};
  }

  // One rank's, with so many sequences a step.
  const Trained& alone(const QString& variant, int global) {
    const QString batch = QString(" training.global_batch=%1 training.local_batch=%1").arg(global);
    if (!alone_.contains(variant + batch)) {
      QStringList sets{"--ranks", "1"};
      for (const QString& key : (variant + batch).split(' ', Qt::SkipEmptyParts))
        sets << "--set" << key;
      sets += optimizer_of(variant);
      const auto done = heddle::test::trained_once(recipe_, sets);
      alone_[variant + batch] = results_of(done.run, done.checkpoints);
    }
    return alone_[variant + batch];
  }

  static Difference difference(const Trained& a, const Trained& b) {
    Difference between;
    for (int i = 0; i < a.losses.size(); ++i)
      between.loss =
          std::max(between.loss, std::abs(a.losses[i].toDouble() - b.losses[i].toDouble()));
    double squares = 0, count = 0;
    for (const QString& name : a.weights.keys())
      for_differences(a.weights[name], b.weights[name], [&](double off) {
        between.weight = std::max(between.weight, off);
        squares += off * off;
        ++count;
      });
    between.weights = std::sqrt(squares / count);
    return between;
  }

  // With `most` the losses and all weights together are nearer than that.
  void same_as_alone(const TrainedLayout& layout, const QString& variant,
                     const std::optional<Difference>& most = {}) {
    // A rank of the data has eight sequences a step, in a pipeline cut into parts.
    const int others = [&] {
      int product = 1;
      for (const QString& key : layout.keys.split(' ', Qt::SkipEmptyParts)) {
        const QStringList parts = key.split('=');
        if (parts[0] == "tp" || parts[0] == "pp" || parts[0] == "cp") product *= parts[1].toInt();
      }
      return product;
    }();
    const int data_ranks = layout.ranks / others;
    const int global = data_ranks == 3 ? 24 : 16;
    const Trained& expected = alone(variant, global);
    QCOMPARE(expected.losses.size(), 20);
    QVERIFY(!expected.weights.isEmpty());
    const Trained run = train(layout.ranks, layout.keys,
                              variant + QString(" training.global_batch=%1 training.local_batch=%2")
                                            .arg(global)
                                            .arg(global / data_ranks));
    QCOMPARE(run.beyond_the_plan, "");
    QCOMPARE(run.losses.size(), expected.losses.size());
    QCOMPARE(run.weights.keys(), expected.weights.keys());
    const auto [loss, weight, weights] = difference(run, expected);
    qInfo("losses within %.1e, weights within %.1e, of the mean %.1e", loss, weight, weights);
    QVERIFY2(loss < (most ? most->loss : kTolerance),
             qPrintable(QString("losses differ by %1").arg(loss)));
    if (most) {
      QVERIFY2(weights < most->weights, qPrintable(QString("weights differ by %1").arg(weights)));
    } else {
      QVERIFY2(weight < kTolerance, qPrintable(QString("weights differ by %1").arg(weight)));
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    // As several ranks have on two cores: the one rank's steps are too small for a second thread,
    // which would spend more in waiting than the step takes.
    qputenv("OMP_NUM_THREADS", "1");
    // Two query heads to a kv head; 130 columns of the ffn do not divide by 8.
    recipe_ = QString(R"(
[model]
dim = 64
n_layers = 6
n_heads = 8
n_kv_heads = 4
ffn_dim = 132
[data]
text = ["%1tinyshakespeare.txt"]
tokenizer = "%1tokenizer.json"
seq_len = 32
[training]
steps = 20
[optimizer]
lr = 1e-3
)")
                  .arg(QString(HEDDLE_SOURCE_DIR) + "/resources/data/")
                  .toUtf8();
    QVERIFY(heddle::test::write_bytes(folder_.filePath("recipe.toml"), recipe_));
  }

  void every_layout_data() {
    QTest::addColumn<int>("layout");
    const auto all = layouts();
    for (int i = 0; i < all.size(); ++i)
      if (all[i].always || qEnvironmentVariableIsSet("HEDDLE_ALL")) QTest::newRow(all[i].name) << i;
  }
  void every_layout() {
    QFETCH(int, layout);
    same_as_alone(layouts()[layout], "");
  }

  void with_all_else_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("parallelism");
    QTest::addColumn<QString>("variant");
    auto row = [](const char* name, int ranks, const char* parallelism, const char* variant) {
      QTest::newRow(name) << ranks << parallelism << variant;
    };
    row("tp, tied embeddings", 2, "tp=2", "model.tied_embeddings=true");
    row("pp, tied embeddings", 2, "pp=2 microbatches=4", "model.tied_embeddings=true");
    row("pp, tp, full recomputation", 4, "pp=2 tp=2 microbatches=4", "recompute.mode=\"full\"");
    row("cp, documents apart", 2, "cp=2 cp_mode=\"ring\"", "data.document_mask=true");
    row("cp by heads, documents apart", 2, "cp=2 cp_mode=\"ulysses\"", "data.document_mask=true");
    row("tp, dp, SGD", 4, "tp=2",
        "optimizer.name=\"sgd\" optimizer.nesterov=true optimizer.lr=0.3");
    row("tp, uneven vocabulary", 2, "tp=2", "model.vocab_size=4099");
    if (qEnvironmentVariableIsSet("HEDDLE_ALL")) {
      row("ZeRO-1, pp, SGD", 4, "pp=2 microbatches=4 dp_shard_states=\"optimizer\"",
          "optimizer.name=\"sgd\" optimizer.lr=0.3");
      row("pp, dp, parameters kept", 4, "pp=2 microbatches=4",
          "wrapping.reshard_after_forward=false");
      row("pp, loss in chunks", 2, "pp=2 microbatches=4", "training.loss_chunks=2");
      row("cp, loss in chunks", 2, "cp=2", "training.loss_chunks=2");
    }
    row("pp without bubbles, loss in chunks, tied embeddings", 2,
        "pp=2 microbatches=4 pp_schedule=\"zero-bubble\"",
        "training.loss_chunks=4 model.tied_embeddings=true");
    row("pp without bubbles, tp, half recomputed", 4,
        "pp=2 tp=2 microbatches=4 pp_schedule=\"zero-bubble\"", "recompute.mode=\"selective\"");
    row("pp by hand", 2, "pp=2 microbatches=4 stage_layers=[1,5]", "");
  }
  void with_all_else() {
    QFETCH(int, ranks);
    QFETCH(QString, parallelism);
    QFETCH(QString, variant);
    same_as_alone({"", ranks, parallelism}, variant);
  }

  // Ranks scale what each of them has, so that layouts round differently: for losses that matters
  // less than that there is rounding at all. AdamW's first steps go by a gradient's sign, however
  // small it is, so weights of two layouts may be as far from each other as both are from fp32's.
  void in_8_bits_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("parallelism");
    QTest::addColumn<QString>("float8");
    const auto row = [](const char* float8, const char* name, int ranks, const char* parallelism) {
      QTest::addRow("%s, %s", float8, name) << ranks << parallelism << float8;
    };
    for (const char* float8 : {"tensorwise", "rowwise"}) {
      row(float8, "tp 2", 2, "tp=2");
      row(float8, "pp 2", 2, "pp=2 microbatches=4");
      if (!qEnvironmentVariableIsSet("HEDDLE_ALL")) continue;
      row(float8, "dp_shard 2", 2, "");
      row(float8, "cp 2", 2, "cp=2");
      row(float8, "pp 2 tp 2 cp 2", 8, "pp=2 tp=2 cp=2");
    }
  }
  void in_8_bits() {
    QFETCH(int, ranks);
    QFETCH(QString, parallelism);
    QFETCH(QString, float8);
    const QString fp32 = "model.ffn_dim=128",
                  variant = fp32 + " precision.param=\"bf16\" precision.float8=\"" + float8 + "\"";
    const Difference apart = difference(alone(variant, 16), alone(fp32, 16));
    qInfo("one rank is from fp32: losses %.1e, weights %.1e", apart.loss, apart.weights);
    QCOMPARE(alone(fp32, 16).losses.size(), 20);
    same_as_alone({"", ranks, parallelism}, variant,
                  Difference{.loss = apart.loss, .weights = 2 * apart.weights});
  }
};

HEDDLE_TEST(LayoutsTest)
#include "layouts_test.moc"
