// Finished runs compared with their predictions.
#include "engine/cost/checks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// A run that took so much more time and memory than predicted.
cost::Check check(double time, double longer, double larger, const std::string& host = "a",
                  const std::string& device = "cpu") {
  return {.host = host,
          .device = device,
          .ranks = 2,
          .time = time,
          .predicted_seconds = 2,
          .measured_seconds = 2 * (1 + longer),
          .predicted_bytes = 1e9,
          .measured_bytes = 1e9 * (1 + larger),
          .build = {},
          .work = {}};
}

}  // namespace

class ChecksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_file_keeps_the_last_forty() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("cache/checks.json").toStdString();
    QVERIFY(cost::read_checks(file).empty());
    for (int i = 0; i < 43; ++i) QVERIFY(cost::keep_check(file, check(i, 0.1, 0)).has_value());
    const auto kept = cost::read_checks(file);
    QCOMPARE(kept.size(), size_t{40});
    QCOMPARE(kept.front().time, 3.0);
    QCOMPARE(kept.back().time, 42.0);
    QCOMPARE(kept.back().measured_seconds, 2.2);
    QCOMPARE(kept.back().device, std::string("cpu"));
  }

  void a_damaged_file_is_replaced() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("checks.json");
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly) && file.write("[{\"host\": 1") > 0);
    file.close();
    QVERIFY(cost::read_checks(path.toStdString()).empty());
    QVERIFY(cost::keep_check(path.toStdString(), check(1, 0, 0)).has_value());
    QCOMPARE(cost::read_checks(path.toStdString()).size(), size_t{1});
  }

  void a_damaged_entry_takes_no_other_with_it() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("checks.json").toStdString();
    QVERIFY(cost::keep_check(path, check(1, 0, 0)).has_value());
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QFile::ReadOnly));
    QByteArray text = file.readAll();
    file.close();
    text.replace(text.lastIndexOf(']'), 1, ",{\"host\":7}]");
    QVERIFY(file.open(QFile::WriteOnly) && file.write(text) > 0);
    file.close();
    QVERIFY(cost::keep_check(path, check(2, 0, 0)).has_value());
    QCOMPARE(cost::read_checks(path).size(), size_t{2});
  }

  void what_cannot_be_read_is_not_replaced() {
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir("checks.json"));
    const auto kept =
        cost::keep_check(folder.filePath("checks.json").toStdString(), check(1, 0, 0));
    QVERIFY(!kept);
    QVERIFY2(kept.error().message.ends_with("cannot be read: it is a folder"),
             kept.error().message.c_str());
  }

  void runs_that_end_at_once_are_all_kept() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("checks.json").toStdString();
    std::vector<pid_t> children;
    for (int child = 0; child < 4; ++child) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      bool kept = true;
      for (int i = 0; i < 8; ++i) kept = cost::keep_check(path, check(i, 0, 0)).has_value() && kept;
      _exit(kept ? 0 : 1);
    }
    for (const pid_t child : children) {
      int status = 1;
      QCOMPARE(waitpid(child, &status, 0), child);
      QCOMPARE(status, 0);
    }
    QCOMPARE(cost::read_checks(path).size(), size_t{32});
  }

  void half_of_the_runs_were_off_by_no_more() {
    const std::vector<cost::Check> all = {check(10, 0.02, 0.01), check(11, -0.04, 0),
                                          check(12, 0.30, -0.02)};
    const cost::Trust trust = cost::trust_in(all, "a", "cpu", 0);
    QVERIFY(qFuzzyCompare(trust.share, 0.04));
    QCOMPARE(trust.words, std::string("the last 3 runs here since it was calibrated: steps -4 to "
                                      "+30 %, memory -2 to +1 % of what was predicted"));
  }

  void fewer_than_five_runs_say_nothing_of_the_next() {
    std::vector<cost::Check> all(4, check(10, 0.1, 0));
    QVERIFY(!cost::trust_in(all, "a", "cpu", 0).step);
    all.push_back(check(11, 0.1, 0.02));
    const cost::Trust trust = cost::trust_in(all, "a", "cpu", 0);
    QVERIFY(trust.step && trust.peak);
    // All were longer by a tenth: so is the next.
    QVERIFY(std::abs(trust.step->low - 1.1) < 1e-9 && std::abs(trust.step->high - 1.1) < 1e-9);
    QVERIFY(trust.peak->low < 1 && trust.peak->high > 1);
  }

  void more_runs_that_scatter_alike_make_it_narrower() {
    double before = std::numeric_limits<double>::infinity();
    for (const size_t count : {6, 10, 20, 40}) {
      std::vector<double> ratios;
      for (size_t i = 0; i < count; ++i) ratios.push_back(i % 2 == 0 ? 0.9 : 1.1);
      const auto spread = cost::spread_of(ratios);
      QVERIFY(spread && spread->low < 0.9 && spread->high > 1.1);
      QVERIFY(spread->high - spread->low < before);
      before = spread->high - spread->low;
    }
  }

  void nine_of_ten_lie_in_it_data() {
    QTest::addColumn<int>("runs");
    QTest::newRow("5 runs") << 5;
    QTest::newRow("10 runs") << 10;
    QTest::newRow("40 runs") << 40;
  }

  void nine_of_ten_lie_in_it() {
    QFETCH(int, runs);
    std::mt19937 random(1);
    std::normal_distribution<double> off(0.05, 0.2);
    constexpr int kTimes = 20000;
    int inside = 0;
    for (int i = 0; i < kTimes; ++i) {
      std::vector<double> ratios;
      for (int run = 0; run < runs; ++run) ratios.push_back(std::exp(off(random)));
      const cost::Spread spread = cost::spread_of(ratios).value();
      const double next = std::exp(off(random));
      inside += spread.low <= next && next <= spread.high;
    }
    const double share = static_cast<double>(inside) / kTimes;
    QVERIFY2(std::abs(share - 0.9) < 0.012, qPrintable(QString::number(share)));
  }

  void runs_on_a_busy_machine_do_not_count() {
    std::vector<cost::Check> all = {check(10, 0.02, 0), check(11, 376.9, 0)};
    all[1].others = 0.6;
    const cost::Trust trust = cost::trust_in(all, "a", "cpu", 0);
    QVERIFY(qFuzzyCompare(trust.share, 0.02));
    QCOMPARE(trust.words,
             std::string("the last run here since it was calibrated: steps +2 %, memory +0 % of "
                         "what was predicted; a run here on a busy machine, not counted"));
    const cost::Trust none = cost::trust_in({all[1]}, "a", "cpu", 0);
    QCOMPARE(none.share, 0.0);
    QCOMPARE(none.words, std::string("a run here on a busy machine, not counted"));
    // Kept, since the machine may be so often.
    const QTemporaryDir folder;
    const std::string file = folder.filePath("checks.json").toStdString();
    QVERIFY(cost::keep_check(file, all[1]).has_value());
    QCOMPARE(cost::read_checks(file).front().others, 0.6);
  }

  void far_off_is_told_as_times() {
    const cost::Trust trust = cost::trust_in({check(1, 0.5, 0), check(2, 2.1, 0)}, "a", "cpu", 0);
    QVERIFY2(trust.words.find("steps +50 % to 3.1 times,") != std::string::npos,
             trust.words.c_str());
  }

  void only_runs_here_since_the_calibration_count() {
    const std::vector<cost::Check> all = {check(1, 0.5, 0), check(10, 0.5, 0, "b"),
                                          check(10, 0.5, 0, "a", "cuda"), check(10, 0.08, 0)};
    const cost::Trust trust = cost::trust_in(all, "a", "cpu", 5);
    QVERIFY(qFuzzyCompare(trust.share, 0.08));
    QVERIFY(trust.words.starts_with("the last run here"));
    QCOMPARE(cost::trust_in(all, "c", "cpu", 0).share, 0.0);
    QVERIFY(cost::trust_in(all, "c", "cpu", 0).words.empty());
  }
};

HEDDLE_TEST(ChecksTest)
#include "checks_test.moc"
