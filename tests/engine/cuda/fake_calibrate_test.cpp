// `calibrate --device cuda` on GPUs that are not there. Their products take as long as they are
// told to, and nothing else takes any time that means something: that the entry is whole, and that
// plans are made by it, is what can be seen.
#include <QJsonArray>
#include <QRegularExpression>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "fake_gpus.h"
#include "tests/support/test_class.h"

namespace {

constexpr double kTflops = 1;

// Calibrates as its own user, with the fake driver's tool.
class Calibrated : public FakeGpus {
 public:
  explicit Calibrated(const QStringList& settings)
      : FakeGpus(gpu_recipe(""), with_tool(settings)) {}

  QStringList files() const {
    return QDir(own_.filePath("heddle/hardware")).entryList(QDir::Files);
  }
  EngineResult run(const QStringList& arguments) const {
    QProcessEnvironment own = environment();
    own.insert("XDG_CONFIG_HOME", own_.path());
    return run_engine(arguments, {}, own);
  }
  QJsonObject plan(const QString& hardware) const {
    const EngineResult planned =
        run({"plan", path("recipe.toml"), "--hardware", hardware, "--json", "--ranks", "1"});
    if (planned.exit_code != 0) qWarning("%s", planned.err.constData());
    return planned.results();
  }

 private:
  static QStringList with_tool(QStringList settings) {
    return settings << "PATH=" + fake_cuda_folder() + ":" + qEnvironmentVariable("PATH")
                    << QString("FAKE_CUDA_GFLOPS=%1").arg(kTflops * 1e3)
                    << "FAKE_CUDA_GB_PER_S=1000";
  }

  QTemporaryDir own_;
};

QJsonArray all_of(const QJsonObject& told, const QString& what) {
  QJsonArray found;
  for (const QJsonValue each : told["measurements"].toArray())
    if (each["what"] == what) found << each;
  return found;
}

// The value of a key in an entry's file; NaN: it has none.
double value_of(const QString& entry, const QString& key) {
  const auto found =
      QRegularExpression("^" + key + " = \\{ value = ([^,]+), from = \"measured\", spread = ",
                         QRegularExpression::MultilineOption)
          .match(entry);
  return found.hasMatch() ? found.captured(1).toDouble() : NAN;
}

}  // namespace

class FakeCalibrateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void an_entry_is_made_and_planned_by_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<qint64>("mebibytes");
    QTest::addColumn<QList<int>>("groups");
    QTest::newRow("one") << 1 << qint64{2048} << QList<int>{};
    QTest::newRow("two") << 2 << qint64{2048} << QList<int>{2};
    QTest::newRow("eight") << 8 << qint64{768} << QList<int>{2, 4, 8};
  }
  void an_entry_is_made_and_planned_by() {
    QFETCH(int, ranks);
    QFETCH(qint64, mebibytes);
    QFETCH(QList<int>, groups);
    const Calibrated gpus({QString("FAKE_CUDA_MEMORY=%1").arg(mebibytes << 20)});
    const QJsonObject published = gpus.plan("a100-80");
    const EngineResult run =
        gpus.run({"calibrate", "--device", "cuda", "--ranks", QString::number(ranks), "--json"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject told = run.results();
    QCOMPARE(told["ranks"].toInt(), ranks);
    QCOMPARE(told["gpus"].toInt(), 8);
    QCOMPARE(told["gpu"].toString(), QString("NVIDIA A100-SXM4-80GB"));
    QStringList alone{"product", "graph_launch", "launch"};
    // Work that needs more than the GPU has is left out.
    if (mebibytes > 1024)
      alone << QString("attention attention_backward one_pass to_host from_host").split(' ');
    for (const QString& what : alone) QVERIFY2(!all_of(told, what).isEmpty(), qPrintable(what));
    for (const char* what : {"gather", "scatter", "all_reduce", "all_to_all"}) {
      QList<int> found;
      for (const QJsonValue each : all_of(told, what))
        if (const int of = each["shape"][0].toInt(); !found.contains(of)) found << of;
      std::sort(found.begin(), found.end());
      QCOMPARE(found, groups);
    }
    QCOMPARE(told["contention"].toArray().size(), groups.size());

    const QString name = told["entry"].toString();
    QCOMPARE(gpus.files(), QStringList{name + ".toml"});
    QFile file(told["file"].toString());
    QVERIFY(file.open(QFile::ReadOnly));
    const QString entry = file.readAll();
    QVERIFY2(entry.contains("like = \"a100-80\""), qPrintable(entry));
    QCOMPARE(value_of(entry, "multiprocessors"), 108.0);
    QCOMPARE(value_of(entry, "memory_gib"), static_cast<double>(mebibytes) / 1024);
    // The model takes the last wave of tiles for a full one, so it needs more of a rate: most where
    // products are small.
    const double best = value_of(entry, "bf16_best_tflops");
    QVERIFY2(best > kTflops && best < 3 * kTflops, qPrintable(entry));
    for (const int of : groups) QVERIFY(entry.contains(QString("{ ranks = %1, latency").arg(of)));
    if (ranks == 1) QVERIFY(told["state"].toString().startsWith("1275 of 1410 MHz, 391.20 of"));

    const QJsonObject planned = gpus.plan(name);
    const double by_it = planned["step_seconds"].toDouble(),
                 as_published = published["step_seconds"].toDouble();
    QVERIFY2(by_it > as_published && as_published > 0,
             qPrintable(QString("%1 and %2 s").arg(by_it).arg(as_published)));
    QCOMPARE(gpus.plan("a100-80")["step_seconds"].toDouble(), as_published);
    QCOMPARE(gpus.left(), QStringList());
  }

  void what_stands_in_the_way_is_named_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QString>("words");
    QTest::newRow("no GPU") << QStringList{"FAKE_CUDA_DEVICES=0"} << 1
                            << "this host has 0 usable GPUs";
    QTest::newRow("too few") << QStringList{"FAKE_CUDA_DEVICES=1"} << 2
                             << "this host has 1 usable GPUs";
    QTest::newRow("in use") << QStringList{"FAKE_CUDA_USER=python3"} << 1
                            << "python3 (process 4711) holds 68.4 GiB: what would be measured";
    QTest::newRow("a rank dies") << QStringList{"FAKE_CUDA_FAULTS=1 ncclReduceScatter 3 breaks 719"}
                                 << 2 << "unspecified launch failure";
    QTest::newRow("of an unknown kind") << QStringList{"FAKE_CUDA_NAME=NVIDIA Loom 9"} << 1
                                        << "the catalogue has no entry for NVIDIA Loom 9";
  }
  void what_stands_in_the_way_is_named() {
    QFETCH(QStringList, settings);
    QFETCH(int, ranks);
    QFETCH(QString, words);
    const Calibrated gpus(settings << "FAKE_CUDA_MEMORY=1073741824");
    const EngineResult run =
        gpus.run({"calibrate", "--device", "cuda", "--ranks", QString::number(ranks)});
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.contains(words.toUtf8()), run.err.constData());
    QCOMPARE(gpus.files(), QStringList());
    QCOMPARE(gpus.left(), QStringList());
  }
};

HEDDLE_TEST(FakeCalibrateTest)
#include "fake_calibrate_test.moc"
