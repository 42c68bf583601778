// A stretch by operator, module and bucket, where the numbers are known by hand.
#include "gui/timeline/span_statistics.h"

#include <QTest>
#include <algorithm>

#include "tests/gui/timeline/sample_step.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

const NameStatistics* of(const std::vector<NameStatistics>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &NameStatistics::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

class SpanStatisticsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_whole_step_by_operator() {
    const auto step = sampleStep();
    const auto rows = statisticsByName({{step.get(), {0, 100'000}}}, GroupBy::operators);
    QCOMPARE(rows.size(), size_t{5});
    QCOMPARE(rows[0].name, std::string("mm_backward"));  // the longest total first
    QCOMPARE(of(rows, "mm")->count, 4);
    QCOMPARE(of(rows, "mm")->totalUs, 40'000);
    QCOMPARE(of(rows, "mm")->meanUs(), 10'000);
    QCOMPARE(of(rows, "all_gather")->exposedUs, 0);
    QCOMPARE(of(rows, "reduce_scatter")->totalUs, 10'000);
    QCOMPARE(of(rows, "reduce_scatter")->exposedUs, 5'000);
  }

  void only_the_selected_part_of_a_span_counts() {
    const auto step = sampleStep();
    const auto rows = statisticsByName({{step.get(), {35'000, 86'000}}}, GroupBy::operators);
    QCOMPARE(of(rows, "mm")->count, 1);
    QCOMPARE(of(rows, "mm")->totalUs, 5'000);
    QCOMPARE(of(rows, "reduce_scatter")->totalUs, 6'000);
    QCOMPARE(of(rows, "reduce_scatter")->exposedUs, 1'000);
    QVERIFY(!of(rows, "adamw"));
  }

  void rows_of_several_ranks_add_up() {
    const auto step = sampleStep();
    const CountedRow row{step.get(), {0, 100'000}};
    QCOMPARE(of(statisticsByName({row, row}, GroupBy::operators), "mm")->totalUs, 80'000);
  }

  void buckets_are_those_of_the_plan() {
    const auto step = sampleStep();
    const workbench::BucketNames buckets({{.name = "layers.0", .modules = {"layers.0"}},
                                          {.name = "layers.3", .modules = {"layers.3"}}});
    const auto rows = statisticsByName({{step.get(), {0, 100'000}, &buckets}}, GroupBy::buckets);
    QCOMPARE(of(rows, "layers.3")->totalUs, 55'000);  // a product forward, one backward
    QCOMPARE(of(rows, "layers.0")->count, 3);         // product, update, scatter
    QCOMPARE(of(rows, workbench::kOtherTransfers)->count, 1);
    QCOMPARE(of(rows, workbench::kOtherCompute)->totalUs, 20'000);
  }

  void a_span_that_ends_before_it_begins_counts_without_time() {
    std::vector<telemetry::Span> spans{{"mm", "a", 50, -20, 0, 0}, {"mm", "a", 100, 10, 0, 0}};
    const Timeline step(std::move(spans));
    const auto rows = statisticsByName({{&step, {0, 200}}}, GroupBy::operators);
    QCOMPARE(of(rows, "mm")->count, 2);
    QCOMPARE(of(rows, "mm")->totalUs, 10);
  }
};

HEDDLE_TEST(SpanStatisticsTest)
#include "span_statistics_test.moc"
