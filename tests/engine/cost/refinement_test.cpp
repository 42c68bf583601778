// Corrections of the next prediction's rates, from finished runs.
#include "engine/cost/refinement.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cost/weighted_median.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const cost::RunPlace kPlace{.host = "a", .device = "cpu", .build = "1", .local_ranks = 2};

cost::Check run(double time, double products) {
  return {.host = kPlace.host,
          .device = kPlace.device,
          .ranks = 2,
          .time = time,
          .predicted_seconds = 1,
          .measured_seconds = 1,
          .predicted_bytes = 1,
          .measured_bytes = 1,
          .build = kPlace.build,
          .local_ranks = 2,
          .threads = 1,
          .work = {{"products", products}}};
}

double products_of(const std::vector<cost::Check>& checks) {
  return cost::refinement_of(checks, kPlace).factors.at("products");
}

}  // namespace

class RefinementTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void half_of_the_weight_lies_below_the_median() {
    QCOMPARE(cost::weighted_median({{3, 1}, {1, 1}, {2, 1}}), 2.0);
    QCOMPARE(cost::weighted_median({{1, 1}, {2, 1}, {9, 3}}), 9.0);
    QCOMPARE(cost::weighted_median({{5, 0.1}}), 5.0);
  }

  void one_run_that_something_disturbed_changes_nothing() {
    QCOMPARE(products_of({run(1, 1.2), run(2, 1.2), run(3, 3.5), run(4, 1.2)}), 1.2);
  }

  void newer_runs_count_more() {
    QCOMPARE(products_of({run(1, 2), run(2, 1.5)}), 1.5);
    // Eight older runs against five newer ones.
    std::vector<cost::Check> all(8, run(1, 2));
    for (int i = 0; i < 5; ++i) all.push_back(run(2, 1.25));
    QCOMPARE(products_of(all), 1.25);
    QCOMPARE(cost::refinement_of(all, kPlace).runs, int64_t{10});
  }

  void what_is_far_off_is_bounded() {
    QCOMPARE(products_of({run(1, 100)}), 4.0);
    QCOMPARE(products_of({run(1, 1e-3)}), 0.25);
  }

  void other_runs_do_not_count_data() {
    QTest::addColumn<QString>("what");
    for (const char* what :
         {"host", "device", "build", "ranks", "threads", "before", "no work", "busy"})
      QTest::newRow(what) << what;
  }
  void other_runs_do_not_count() {
    QFETCH(QString, what);
    cost::Check other = run(10, 2);
    if (what == "host") other.host = "b";
    if (what == "device") other.device = "cuda";
    if (what == "build") other.build = "2";
    if (what == "ranks") other.local_ranks = 4;
    if (what == "threads") other.threads = 2;
    if (what == "before") other.time = 4;
    if (what == "no work") other.work = {};
    if (what == "busy") other.others = 0.4;
    cost::RunPlace place = kPlace;
    place.since = 5;
    const cost::Refinement refinement = cost::refinement_of({other}, place);
    QVERIFY(refinement.factors.empty());
    QCOMPARE(refinement.runs, int64_t{0});
    QVERIFY(cost::words_of(refinement).empty());
  }

  void it_says_what_it_is_from() {
    QCOMPARE(cost::words_of(cost::refinement_of({run(1e9, 1)}, kPlace)),
             std::string("refined by a run here, the newest on 2001-09-09 UTC"));
    QCOMPARE(cost::words_of(cost::refinement_of({run(1, 1), run(1e9, 1)}, kPlace)),
             std::string("refined by 2 runs here, the newest on 2001-09-09 UTC"));
  }

  void a_file_and_a_message_keep_it() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("checks.json").toStdString();
    QVERIFY(cost::keep_check(file, run(3, 1.5)).has_value());
    const auto checks = cost::read_checks(file);
    const cost::Refinement kept = cost::refinement_of(checks, kPlace);
    QCOMPARE(kept.factors.at("products"), 1.5);
    const cost::Refinement told = cost::refinement_from_json(cost::to_json(kept));
    QVERIFY(told.factors == kept.factors);
    QCOMPARE(told.runs, kept.runs);
    QCOMPARE(told.newest, kept.newest);
  }
};

HEDDLE_TEST(RefinementTest)
#include "refinement_test.moc"
