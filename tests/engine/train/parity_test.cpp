// Heddle against Hugging Face's results on tiny Llamas: logits, loss, gradients, 20 AdamW steps;
// eager and planned, on 1, 2 and 4 ranks that split the fixture's batch of 4 sequences, and under
// other layouts (with `HEDDLE_ALL=1` under all of them).
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <tuple>

#include "numbers.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

using heddle::checkpoint::SafetensorsFile;

namespace {

const QString kReference = QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/reference/";

QJsonObject expected_json(const QString& fixture) {
  QFile file(kReference + fixture + "/expected.json");
  return file.open(QFile::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                    : QJsonObject();
}

}  // namespace

class ParityTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  // The fixture's recipe on a number of ranks; weights go to OUT after the last step.
  QString write_recipe(const QString& fixture, int data_ranks) {
    const QString path = folder_.filePath("recipe.toml");
    QFile file(path);
    if (!file.open(QFile::WriteOnly)) qFatal("no %s", qPrintable(path));
    file.write(QString(R"(
[model]
checkpoint = "%1"
[data]
token_ids = "%1/expected.safetensors"
seq_len = 32
[training]
steps = 20
local_batch = %2
global_batch = 4
max_norm = 1.0
[optimizer]
lr = 1e-3
betas = [0.9, 0.95]
eps = 1e-8
weight_decay = 0.1
[schedule]
decay = "none"
[checkpoint]
folder = "%3"
[hardware]
ranks = %4
)")
                   .arg(kReference + fixture)
                   .arg(4 / data_ranks)
                   .arg(folder_.filePath("out"))
                   .arg(data_ranks)
                   .toUtf8());
    return path;
  }

  static void each_case() {
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<QString>("mode");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("layout");
    const bool all = qEnvironmentVariableIsSet("HEDDLE_ALL");
    for (const char* fixture : {"llama-tiny", "llama-tiny-scaled-rope-tied"}) {
      for (const char* mode : {"eager", "planned"})
        for (int ranks : {1, 2, 4})
          QTest::addRow("%s %s %d", fixture, mode, ranks) << fixture << mode << ranks << "";
      // Eager steps have collectives of their own.
      for (const char* layout : {"tp=2", "tp=2 sequence_parallel=false"})
        QTest::addRow("%s eager %s", fixture, layout) << fixture << "eager" << 2 << layout;
      for (const auto& [ranks, layout, always] : {std::tuple{2, "tp=2", false},
                                                  {2, "tp=2 sequence_parallel=false", false},
                                                  {2, "cp=2", false},
                                                  {4, "cp=4 cp_mode=\"ring\"", true},
                                                  {2, "cp=2 cp_mode=\"ulysses\"", false},
                                                  {4, "cp=4 cp_mode=\"ulysses\"", true},
                                                  {2, "pp=2", false},
                                                  {2, "pp=2 pp_schedule=\"zero-bubble\"", false},
                                                  {4, "tp=2", false},
                                                  {4, "dp_replicate=2", false},
                                                  {8, "pp=2 tp=2 cp=2", true},
                                                  {8, "pp=2 tp=2", false},
                                                  {8, "dp_replicate=2 tp=2", false}})
        if (all || always)
          QTest::addRow("%s %s", fixture, layout) << fixture << "planned" << ranks << layout;
    }
  }

  // The recipe's ranks, and the options that make its layout.
  QStringList arguments(const QString& fixture, int ranks, const QString& layout,
                        const QString& micro_batches) {
    QStringList sets;
    int data_ranks = ranks;
    for (const QString& key : layout.split(' ', Qt::SkipEmptyParts)) {
      sets << "--set"
           << "parallelism." + key;
      const QStringList parts = key.split('=');
      if (parts[0] == "pp")
        sets << "--set"
             << "parallelism.microbatches=" + micro_batches;
      if (QStringList{"tp", "cp", "pp"}.contains(parts[0])) data_ranks /= parts[1].toInt();
    }
    return QStringList{write_recipe(fixture, data_ranks), "--ranks", QString::number(ranks)} + sets;
  }

 private Q_SLOTS:
  void first_batch_data() { each_case(); }
  void first_batch() {
    QFETCH(QString, fixture);
    QFETCH(QString, mode);
    QFETCH(int, ranks);
    QFETCH(QString, layout);
    const QString to = folder_.filePath("eval.safetensors");
    const auto run = run_engine(QStringList{"eval"} + arguments(fixture, ranks, layout, "1") +
                                QStringList{"--mode", mode, "--to", to});
    QVERIFY2(run.exit_code == 0, run.err.constData());

    const SafetensorsFile ours = open(to),
                          theirs = open(kReference + fixture + "/expected.safetensors");
    QVERIFY(largest_difference(numbers(ours, "logits"), numbers(theirs, "logits")) <= 1e-4);
    const double loss = expected_json(fixture)["loss"].toDouble();
    QVERIFY(std::abs(numbers(ours, "loss").at(0) - loss) <= 1e-5);
    int gradients = 0;
    for (const auto& tensor : theirs.tensors()) {
      if (!QByteArray::fromStdString(tensor.name).startsWith("grad.")) continue;
      const auto expected = numbers(theirs, tensor.name);
      const double off = largest_difference(numbers(ours, tensor.name), expected);
      QVERIFY2(off <= 1e-4 * largest(expected), qPrintable(QString("%1: off by %2, largest %3")
                                                               .arg(tensor.name.c_str())
                                                               .arg(off)
                                                               .arg(largest(expected))));
      ++gradients;
    }
    QVERIFY(gradients > 0);
  }

  void a_batch_in_parts_is_refused() {
    const auto run = run_engine(QStringList{"eval"} + arguments("llama-tiny", 2, "pp=2", "2") +
                                QStringList{"--to", folder_.filePath("eval.safetensors")});
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.contains("this recipe cuts it into 2 micro-batches; valid: "),
             run.err.constData());
    QCOMPARE(run.err.trimmed().count('\n'), 0);
  }

  void twenty_steps_data() { each_case(); }
  void twenty_steps() {
    QFETCH(QString, fixture);
    QFETCH(QString, mode);
    QFETCH(int, ranks);
    QFETCH(QString, layout);
    const auto run = run_engine(QStringList{"train"} + arguments(fixture, ranks, layout, "2") +
                                QStringList{"--mode", mode});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject results = run.results();
    const QJsonArray losses = results["losses"].toArray(),
                     expected = expected_json(fixture)["losses"].toArray();
    QCOMPARE(losses.size(), 20);
    for (int i = 0; i < 20; ++i)
      QVERIFY2(std::abs(losses[i].toDouble() - expected[i].toDouble()) <= 1e-4,
               qPrintable(QString("step %1: %2, expected %3")
                              .arg(i)
                              .arg(losses[i].toDouble())
                              .arg(expected[i].toDouble())));
    // In planned mode the model's code ran during capture alone.
    QCOMPARE(results["model_forward_calls"].toInt(), mode == "planned" ? 1 : 20);

    const SafetensorsFile ours = open(exported(folder_.filePath("out/step-20")));
    QDir(folder_.filePath("out")).removeRecursively();
    const SafetensorsFile theirs = open(kReference + fixture + "/after_20_steps.safetensors");
    size_t weights = 0, close = 0;
    for (const auto& tensor : theirs.tensors()) {
      const auto want = numbers(theirs, tensor.name), have = numbers(ours, tensor.name);
      QVERIFY2(want.size() == have.size(), tensor.name.c_str());
      for (size_t i = 0; i < want.size(); ++i) {
        ++weights;
        if (std::abs(want[i] - have[i]) <= 1e-4F) ++close;
      }
    }
    QVERIFY2(static_cast<double>(close) >= 0.999 * static_cast<double>(weights),
             qPrintable(QString("%1 of %2 weights are close").arg(close).arg(weights)));
  }
};

HEDDLE_TEST(ParityTest)
#include "parity_test.moc"
