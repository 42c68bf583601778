// Runs that have finished make the next prediction better.
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "base/host_name.h"
#include "engine/cost/checks.h"
#include "engine/cost/rates.h"
#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const QByteArray kRun =
    "\n[training]\nlocal_batch = 4\nsteps = 24\n[telemetry]\nprofile_every = 4\n"
    "[checkpoint]\nenabled = false\n[hardware]\nranks = 2\n";

}  // namespace

class RefinedTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QProcessEnvironment environment_ = QProcessEnvironment::systemEnvironment();

  QString recipe(const char* name, int layers, const QByteArray& rest) const {
    const QString path = folder_.filePath(name);
    QFile file(path);
    if (!file.open(QFile::WriteOnly)) qFatal("%s", qPrintable(path));
    file.write(small_recipe(rest.constData(), layers));
    return path;
  }
  QJsonObject planned(const QString& recipe) const {
    return run_engine({"plan", recipe, "--json"}, {}, environment_).results();
  }
  QJsonObject trained(const QString& recipe) const {
    return run_engine({"train", recipe}, {}, environment_).results();
  }
  // Runs as if the machine had been theirs alone, which a busy one is not.
  void count_all() const {
    const std::string file = folder_.filePath("heddle/checks.json").toStdString();
    std::vector<cost::Check> runs = cost::read_checks(file);
    QFile::remove(QString::fromStdString(file));
    for (cost::Check& each : runs) {
      each.others = 0;
      if (!cost::keep_check(file, each)) qFatal("%s", file.c_str());
    }
  }
  // As a logarithm.
  static double off(const QJsonObject& plan, const QJsonObject& run) {
    return std::abs(std::log(plan["step_seconds"].toDouble() / run["step_seconds"].toDouble()));
  }

 private Q_SLOTS:
  // A calibration by which all takes hundreds of times as long as it does on any machine: each run
  // moves the next prediction as far as one may.
  void initTestCase() {
    environment_.insert("XDG_CACHE_HOME", folder_.path());
    const std::string file = folder_.filePath("heddle/calibration.json").toStdString();
    cost::Calibration slow{.host = host_name(),
                           .ranks = 2,
                           .threads = 1,
                           .cores = 2,
                           .time = 1,
                           .engine = "test",
                           .speed = {1e10, 1e9},
                           .process_bytes = 100'000'000,
                           .links = {cost::formula_link("memory", 2)},
                           .operators = {}};
    for (const char* op : {"aten.mm", cost::kMovesBytes})
      slow.operators.push_back({op, "f32", {}, 2e6});
    QVERIFY(cost::keep_calibration(file, slow).has_value());
  }

  void the_next_prediction_is_closer() {
    const QString mine = recipe("mine.toml", 2, kRun), other = recipe("other.toml", 4, kRun);
    const QJsonObject before = planned(mine), other_before = planned(other);
    QVERIFY(before["step_seconds"].toDouble() > 0);
    QVERIFY(!before["uncertain_words"].toString().contains("refined"));
    const QJsonObject run = trained(mine);
    QVERIFY(run["step_seconds"].toDouble() > 0);
    count_all();
    const QJsonObject after = planned(mine), other_after = planned(other);
    QVERIFY2(after["uncertain_words"].toString().startsWith("refined by a run here"),
             qPrintable(after["uncertain_words"].toString()));
    QCOMPARE(after["refined_by_runs"].toInt(), 1);
    const auto said = [](double is, double was) {
      return QString("off by a factor of %1, before %2").arg(std::exp(is)).arg(std::exp(was));
    };
    QVERIFY2(off(after, run) < off(before, run) - 1,
             qPrintable(said(off(after, run), off(before, run))));
    // The same prediction twice.
    QCOMPARE(planned(mine)["step_seconds"], after["step_seconds"]);

    // A lesson from one recipe holds for another one.
    const QJsonObject other_run = trained(other);
    count_all();
    QVERIFY2(off(other_after, other_run) < off(other_before, other_run) - 1,
             qPrintable(said(off(other_after, other_run), off(other_before, other_run))));
    QVERIFY(planned(mine)["uncertain_words"].toString().startsWith("refined by 2 runs here"));
  }

  void a_run_on_a_busy_machine_refines_nothing() {
    const QString mine = recipe("mine.toml", 2, kRun);
    const std::string file = folder_.filePath("heddle/checks.json").toStdString();
    QFile::remove(QString::fromStdString(file));
    trained(mine);
    std::vector<cost::Check> runs = cost::read_checks(file);
    QCOMPARE(runs.size(), size_t{1});
    QFile::remove(QString::fromStdString(file));
    runs[0].others = 0.5;
    QVERIFY(cost::keep_check(file, runs[0]).has_value());
    const QJsonObject plan = planned(mine);
    QCOMPARE(plan["refined_by_runs"].toInt(), 0);
    QCOMPARE(plan["uncertain_words"].toString(),
             QString("a run here on a busy machine, not counted"));
  }

  // Runs that all took five to ten times as long as predicted, and refine nothing.
  void the_headline_is_within_its_interval() {
    const QString mine = recipe("mine.toml", 2, kRun);
    const std::string file = folder_.filePath("heddle/checks.json").toStdString();
    QFile::remove(QString::fromStdString(file));
    for (int run = 5; run <= 10; ++run)
      QVERIFY(cost::keep_check(file, {.host = host_name(),
                                      .device = "cpu",
                                      .ranks = 2,
                                      .time = 2,
                                      .predicted_seconds = 1,
                                      .measured_seconds = static_cast<double>(run),
                                      .predicted_bytes = 1e8,
                                      .measured_bytes = 1.01e8,
                                      .build = "another",
                                      .work = {}})
                  .has_value());
    const QJsonObject plan = planned(mine), interval = plan["interval"].toObject();
    QFile::remove(QString::fromStdString(file));
    const double step = plan["step_seconds"].toDouble(), bytes = plan["peak_bytes"].toDouble();
    QVERIFY(interval["step_low"].toDouble() <= step && 5 * step < interval["step_high"].toDouble());
    QVERIFY(interval["bytes_low"].toDouble() <= bytes &&
            bytes <= interval["bytes_high"].toDouble());
    QCOMPARE(plan["refined_by_runs"].toInt(), 0);
  }

  // One after the other: a run of another build; the machine calibrated again.
  void what_does_not_hold_any_more_is_left_out() {
    const QString mine = recipe("mine.toml", 2, kRun);
    const std::string file = folder_.filePath("heddle/checks.json").toStdString();
    QFile::remove(QString::fromStdString(file));
    trained(mine);
    std::vector<cost::Check> runs = cost::read_checks(file);
    QCOMPARE(runs.size(), size_t{1});
    QFile::remove(QString::fromStdString(file));
    for (cost::Check& each : runs) {
      each.build = "another";
      QVERIFY(cost::keep_check(file, each).has_value());
    }
    QVERIFY(!planned(mine)["uncertain_words"].toString().contains("refined"));
    trained(mine);
    count_all();
    QVERIFY(planned(mine)["uncertain_words"].toString().startsWith("refined by a run here"));

    const std::string calibrations = folder_.filePath("heddle/calibration.json").toStdString();
    cost::Calibration again = cost::read_calibrations(calibrations).value().front();
    again.time = 4e9;
    QVERIFY(cost::keep_calibration(calibrations, again).has_value());
    QVERIFY(!planned(mine)["uncertain_words"].toString().contains("refined"));
  }
};

HEDDLE_TEST(RefinedTest)
#include "refined_test.moc"
