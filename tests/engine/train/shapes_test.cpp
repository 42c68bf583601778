// Models of other shapes against transformers: heads that are not dim / heads, other scalings of
// RoPE, biases, norms of queries and keys. Logits, gradients and 5 AdamW steps, eager, planned, and
// under layouts that spread each kind of parameter.
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

const QString kShapes = QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/shapes/";

QJsonArray expected_losses(const QString& fixture) {
  QFile file(kShapes + fixture + "/expected.json");
  if (!file.open(QFile::ReadOnly)) return {};
  return QJsonDocument::fromJson(file.readAll()).object()["losses"].toArray();
}

}  // namespace

class ShapesTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  // The fixture's recipe on ranks of which so many read other data.
  QStringList arguments(const QString& fixture, int ranks, int data_ranks, const QString& layout) {
    const QString path = folder_.filePath("recipe.toml");
    QFile file(path);
    if (!file.open(QFile::WriteOnly)) qFatal("no %s", qPrintable(path));
    file.write(QString(R"(
[model]
checkpoint = "%1"
[data]
token_ids = "%1/expected.safetensors"
seq_len = 16
[training]
steps = 5
local_batch = %2
global_batch = 4
[optimizer]
lr = 1e-3
[schedule]
decay = "none"
[checkpoint]
folder = "%3"
)")
                   .arg(kShapes + fixture)
                   .arg(4 / data_ranks)
                   .arg(folder_.filePath("out"))
                   .toUtf8());
    QStringList all = {path, "--ranks", QString::number(ranks)};
    for (const QString& key : layout.split(' ', Qt::SkipEmptyParts))
      all << "--set"
          << "parallelism." + key;
    return all;
  }

  static void each_case() {
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<QString>("mode");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("data_ranks");
    QTest::addColumn<QString>("layout");
    for (const char* fixture : {"head-dim-linear", "biases-yarn", "qwen2", "qwen3-tied"}) {
      QTest::addRow("%s eager", fixture) << fixture << "eager" << 1 << 1 << "";
      for (const auto& [ranks, data_ranks, layout] : {std::tuple{1, 1, ""},
                                                      {2, 2, ""},
                                                      {2, 1, "tp=2"},
                                                      {2, 1, "tp=2 sequence_parallel=false"},
                                                      {2, 1, "cp=2"},
                                                      {2, 1, "pp=2 microbatches=1"},
                                                      {4, 2, "tp=2"}})
        QTest::addRow("%s %d %s", fixture, ranks, layout)
            << fixture << "planned" << ranks << data_ranks << layout;
    }
  }

 private Q_SLOTS:
  void first_batch_data() { each_case(); }
  void first_batch() {
    QFETCH(QString, fixture);
    QFETCH(QString, mode);
    QFETCH(int, ranks);
    QFETCH(int, data_ranks);
    QFETCH(QString, layout);
    const QString to = folder_.filePath("eval.safetensors");
    const auto run =
        run_engine(QStringList{"eval"} + arguments(fixture, ranks, data_ranks, layout) +
                   QStringList{"--mode", mode, "--to", to});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const SafetensorsFile ours = open(to),
                          theirs = open(kShapes + fixture + "/expected.safetensors");
    const double off = largest_difference(numbers(ours, "logits"), numbers(theirs, "logits"));
    QVERIFY2(off <= 1e-4, qPrintable(QString("logits are off by %1").arg(off)));
    int gradients = 0;
    for (const auto& tensor : theirs.tensors()) {
      if (!QByteArray::fromStdString(tensor.name).startsWith("grad.")) continue;
      const auto expected = numbers(theirs, tensor.name);
      const double gradient_off = largest_difference(numbers(ours, tensor.name), expected);
      QVERIFY2(gradient_off <= 1e-4 * largest(expected),
               qPrintable(QString("%1: off by %2, largest %3")
                              .arg(tensor.name.c_str())
                              .arg(gradient_off)
                              .arg(largest(expected))));
      ++gradients;
    }
    QVERIFY(gradients > 18);
  }

  void five_steps_data() { each_case(); }
  void five_steps() {
    QFETCH(QString, fixture);
    QFETCH(QString, mode);
    QFETCH(int, ranks);
    QFETCH(int, data_ranks);
    QFETCH(QString, layout);
    const auto run =
        run_engine(QStringList{"train"} + arguments(fixture, ranks, data_ranks, layout) +
                   QStringList{"--mode", mode});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonArray losses = run.results()["losses"].toArray(),
                     expected = expected_losses(fixture);
    QCOMPARE(losses.size(), 5);
    for (int i = 0; i < 5; ++i)
      QVERIFY2(std::abs(losses[i].toDouble() - expected[i].toDouble()) <= 1e-4,
               qPrintable(QString("step %1: %2, expected %3")
                              .arg(i)
                              .arg(losses[i].toDouble())
                              .arg(expected[i].toDouble())));
    const SafetensorsFile ours = open(exported(folder_.filePath("out/step-5")));
    QDir(folder_.filePath("out")).removeRecursively();
    const SafetensorsFile theirs = open(kShapes + fixture + "/after_5_steps.safetensors");
    for (const auto& tensor : theirs.tensors()) {
      const double off =
          largest_difference(numbers(ours, tensor.name), numbers(theirs, tensor.name));
      QVERIFY2(off <= 1e-4, qPrintable(QString("%1: off by %2").arg(tensor.name.c_str()).arg(off)));
    }
  }
};

HEDDLE_TEST(ShapesTest)
#include "shapes_test.moc"
