// The command with its real ranks, and training by what it kept.
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

const QString kRecipe = QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/debug.toml";

QStringList train_here(const QStringList& sets) {
  QStringList arguments = {
      "train", kRecipe, "--set", "training.steps=2", "--set", "schedule.warmup_steps=0"};
  for (const QString& set : sets) arguments << "--set" << set;
  return arguments;
}

// "140 MiB": the least that is enough, as the error names it.
QString least_limit(const QStringList& sets) {
  const QString error =
      run_engine(train_here(sets + QStringList{"wrapping.memory_limit=\"64 MiB\""})).err;
  return error.section("at least ", 1).section(" with this", 0, 0);
}

qint64 mebibytes(const QString& limit) { return limit.section(' ', 0, 0).toLongLong(); }

}  // namespace

class CalibrateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { qputenv("XDG_CACHE_HOME", cache_.path().toUtf8()); }

  void without_a_calibration_a_plan_says_that_it_is_estimated() {
    const auto run = run_engine({"graph", kRecipe, "--stats"});
    QCOMPARE(run.exit_code, 0);
    QVERIFY2(run.results()["plan"].toString().contains("estimated"), run.out.constData());
  }

  void calibrate_measures_and_keeps() {
    const auto run = run_engine({"calibrate", "--json", "--ranks", "2"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject kept = run.results()["calibrations"].toArray().at(0).toObject();
    QCOMPARE(kept["ranks"].toInt(), 2);
    QVERIFY(!kept["engine"].toString().isEmpty());
    QVERIFY(kept["flops_per_second"].toDouble() > 0 && kept["bytes_per_second"].toDouble() > 0);
    // A busy machine: what there was no time for is said.
    const bool whole = kept["left_out"].toArray().isEmpty();
    const QJsonObject link = kept["links"].toArray().at(0).toObject();
    QCOMPARE(link["ranks"].toInt(), 2);
    for (const char* collective : {"all_gather", "reduce_scatter"}) {
      for (const auto& [curve, sizes] :
           {std::pair("alone", 25), {"beside_compute", 13}, {"lost", 13}}) {
        const QJsonArray points = link[collective][curve].toArray();
        QVERIFY(whole ? points.size() == sizes : points.size() > 0);
        QCOMPARE(points.first().toArray()[0].toInt(), 4096);
        if (whole) QCOMPARE(points.last().toArray()[0].toInt(), 128 << 20);
        // Where cores are spare, what compute loses may be less than what can be measured.
        const bool lost = curve == std::string_view("lost");
        for (const QJsonValue point : points) {
          const double seconds = point.toArray()[1].toDouble();
          QVERIFY(lost ? seconds >= 0 : seconds > 0);
        }
      }
    }
    const double process = kept["process_bytes"].toDouble();
    QVERIFY2(process > 100e6 && process < 300e6, qPrintable(QString::number(process)));
    QSet<QString> products;
    for (const QJsonValue rate : kept["operators"].toArray())
      if (rate["op"] == "aten.mm") products << rate["dtype"].toString();
    if (whole) QCOMPARE(products, QSet<QString>({"f32", "bf16"}));

    const auto planned = run_engine({"graph", kRecipe, "--stats"});
    QVERIFY2(!planned.results()["plan"].toString().contains("estimated"), planned.out.constData());
  }

  void ranks_plan_by_it_and_say_so() {
    const QTemporaryDir folder;
    const auto run = run_engine(train_here({"wrapping.mode=\"auto\""}) +
                                QStringList{"--run-dir", folder.path()});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QFile log(folder.filePath("rank-0.0.hlog"));
    QVERIFY(log.open(QFile::ReadOnly));
    QVERIFY(log.readAll().contains("expected: step"));
  }

  void a_finished_run_is_held_against_its_prediction() {
    const auto plan = [] { return run_engine({"plan", kRecipe, "--json"}).results(); };
    QCOMPARE(plan()["uncertain"].toDouble(), 0.0);
    const auto run = run_engine(train_here({"training.steps=9"}));
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const QJsonObject expected = run.results()["expected"].toObject();
    QVERIFY(expected["step_seconds"].toDouble() > 0);
    QCOMPARE(expected["plan_hash"], run.results()["plan_hash"]);
    const QJsonObject after = plan();
    QVERIFY(after["uncertain"].toDouble() > 0);
    QVERIFY2(after["uncertain_words"].toString().contains("the last run here"),
             qPrintable(after["uncertain_words"].toString()));
    const double peak = run.results()["peak_bytes"].toDouble();
    const double bytes = expected["peak_bytes"].toDouble();
    QVERIFY2(std::abs(bytes / peak - 1) < 0.1,
             qPrintable(QString("%1 and %2").arg(bytes).arg(peak)));
  }

  void a_limit_below_what_any_plan_needs_is_an_error() {
    const auto refused = run_engine(train_here({"wrapping.memory_limit=\"64 MiB\""}));
    QCOMPARE(refused.exit_code, 2);
    const QString error = refused.err;
    for (const char* part : {"wrapping.memory_limit: 64 MiB is not enough", "at least",
                             "recompute.mode = \"full\"", "more than 2 ranks"})
      QVERIFY2(error.contains(part), refused.err.constData());
    // The limit that it names is enough.
    const auto met = run_engine(train_here({"wrapping.memory_limit=\"" + least_limit({}) + "\""}));
    QVERIFY2(met.exit_code == 0, met.err.constData());
  }

  void a_limit_is_of_checkpoints_and_validation_too() {
    const QTemporaryDir folder;
    // Recomputed, in parts: a training step takes less than a batch of validation.
    const QStringList lean = {"recompute.mode=\"full\"", "training.local_batch=16",
                              "training.loss_chunks=8"};
    const QStringList saved = lean + QStringList{"checkpoint.folder=\"" + folder.path() + "\""};
    const QStringList validated =
        saved + QStringList{"validation.every=1", "validation.batches=1",
                            QString("validation.text=[\"%1/resources/data/tinyshakespeare.txt\"]")
                                .arg(HEDDLE_SOURCE_DIR)};
    const auto alone = mebibytes(least_limit(lean)), with_copy = mebibytes(least_limit(saved)),
               with_both = mebibytes(least_limit(validated));
    const auto met = run_engine(train_here(
        validated + QStringList{"wrapping.memory_limit=\"" + least_limit(validated) + "\""}));
    QVERIFY2(met.exit_code == 0, met.err.constData());
    const auto copy = QFileInfo(folder.filePath("step-2/rank-0.safetensors")).size() >> 20;
    QVERIFY2(copy > 0 && std::abs(with_copy - alone - copy) <= 1,
             qPrintable(QString("%1 and %2, not %3").arg(alone).arg(copy).arg(with_copy)));
    QVERIFY(with_both > with_copy);
  }

  void a_limit_holds_for_every_wrapping() {
    for (const char* mode : {"layers", "none"}) {
      const auto refused = run_engine(train_here(
          {QString("wrapping.mode=\"%1\"").arg(mode), "wrapping.memory_limit=\"64 MiB\""}));
      QCOMPARE(refused.exit_code, 2);
      QVERIFY2(refused.err.contains("is not enough"), refused.err.constData());
    }
  }

 private:
  QTemporaryDir cache_;
};

HEDDLE_TEST(CalibrateTest)
#include "calibrate_test.moc"
