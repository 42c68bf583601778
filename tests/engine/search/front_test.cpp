// The layouts that a search finds for this machine train: plans spread over the front have the
// losses of one rank, and run as planned.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

constexpr double kTolerance = 1e-4;
constexpr int kTrained = 4;

QStringList options_of(const QJsonArray& sets) {
  QStringList options;
  for (const QJsonValue& set : sets) options << "--set" << set.toString();
  return options;
}

/// Its ends, and others evenly between them.
QJsonArray spread(const QJsonArray& front) {
  QJsonArray some;
  const auto count = std::min<qsizetype>(kTrained, front.size());
  for (qsizetype i = 0; i < count; ++i)
    some.append(front[count == 1 ? 0 : i * (front.size() - 1) / (count - 1)]);
  return some;
}

}  // namespace

class FrontTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_plan_trains_as_one_rank_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QStringList>("fixes");
    QTest::newRow("2 ranks") << 2 << QStringList{};
    QTest::newRow("4 ranks in a pipeline") << 4 << QStringList{"parallelism.pp=2"};
  }

  void every_plan_trains_as_one_rank() {
    QFETCH(int, ranks);
    QFETCH(QStringList, fixes);
    QTemporaryDir folder;
    const QString path = folder.filePath("recipe.toml");
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(QString(R"(
[model]
dim = 64
n_layers = 4
n_heads = 4
n_kv_heads = 4
ffn_dim = 128
[data]
text = ["%1tinyshakespeare.txt"]
tokenizer = "%1tokenizer.json"
seq_len = 64
[training]
steps = 5
global_batch = 8
[optimizer]
eps = 1e-6
[checkpoint]
enabled = false
)")
                   .arg(QString(HEDDLE_SOURCE_DIR) + "/resources/data/")
                   .toUtf8());
    file.close();

    QStringList search = {"search", path, "--ranks", QString::number(ranks), "--json"};
    for (const QString& fix : fixes) search << "--fix" << fix;
    const EngineResult searched = run_engine(search);
    QVERIFY2(searched.exit_code == 0, searched.err.constData());
    const QJsonArray front = searched.results()["front"].toArray();
    QVERIFY(front.size() > 1);

    const EngineResult alone = run_engine({"train", path, "--ranks", "1"});
    QVERIFY2(alone.exit_code == 0, alone.err.constData());
    const QJsonArray expected = alone.results()["losses"].toArray();
    QCOMPARE(expected.size(), 5);
    for (const QJsonValue& plan : spread(front)) {
      const EngineResult run =
          run_engine(QStringList{"train", path} + options_of(plan["sets"].toArray()));
      const QByteArray words = plan["words"].toString().toUtf8();
      QVERIFY2(run.exit_code == 0, words + ": " + run.err);
      QVERIFY2(beyond_the_plan(run.results()).isEmpty(), words);
      const QJsonArray losses = run.results()["losses"].toArray();
      QCOMPARE(losses.size(), expected.size());
      for (qsizetype i = 0; i < losses.size(); ++i)
        QVERIFY2(std::abs(losses[i].toDouble() - expected[i].toDouble()) < kTolerance, words);
    }
  }
};

HEDDLE_TEST(FrontTest)
#include "front_test.moc"
