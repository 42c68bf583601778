// The last samples of a metric, summed up, compared with all its samples.
#include "workbench/metric_tails.h"

#include <QtTest>
#include <cmath>

#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"
#include "workbench/run_values.h"

using namespace heddle;
using namespace heddle::storage;
using namespace heddle::workbench;

namespace {

/// Steps with a loss each, a value that is not finite now and then, and a metric of every 9th.
std::vector<telemetry::Record> tail_steps(int64_t first, int64_t last, double shift) {
  std::vector<telemetry::Record> records;
  for (int64_t step = first; step <= last; ++step) {
    const auto x = static_cast<double>(step);
    telemetry::Step record{step, 1e9 + x, {{"loss", shift + std::sin(x)}}};
    if (step % 50 == 0) record.values["loss"] = std::nan("");
    if (step % 9 == 0) record.values["rare"] = shift + x;
    records.emplace_back(record);
  }
  return records;
}

void verify_tail(StoreFixture& store, RunId run, const std::string& metric, int64_t count,
                 int32_t rank = 0) {
  const auto samples = must(store.reader.samples(run, metric, rank));
  MetricSummary wanted;
  const auto size = static_cast<int64_t>(samples.size());
  for (int64_t i = std::max<int64_t>(0, size - count); i < size; ++i)
    add(wanted, samples[static_cast<size_t>(i)].step, samples[static_cast<size_t>(i)].value);
  const MetricSummary found = must(MetricTails().read(store.reader, metric, count)).at(run);
  QCOMPARE(found.count, wanted.count);
  QCOMPARE(found.nonfinite, wanted.nonfinite);
  QCOMPARE(found.min, wanted.min);
  QCOMPARE(found.max, wanted.max);
  QVERIFY(std::isnan(wanted.mean) ? std::isnan(found.mean)
                                  : std::abs(found.mean - wanted.mean) < 1e-9);
  QCOMPARE(found.last_step, wanted.last_step);
}

}  // namespace

class MetricTailsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void it_is_that_of_the_last_samples() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(tail_steps(1, 3000, 4)));
    for (const int64_t count : {1, 100, 1025, 5000})
      for (const char* metric : {"loss", "rare"}) verify_tail(store, run, metric, count);
  }

  void a_later_attempt_counts_from_where_it_began() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(tail_steps(1, 3000, 4)));
    store.feed(run, log_of(tail_steps(2001, 2050, 9)), 0, 1);
    verify_tail(store, run, "loss", 20);
    verify_tail(store, run, "loss", 100);
  }

  void it_is_of_the_lowest_rank_that_has_the_metric() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(whole_run(10)));
    store.feed(run, log_of(tail_steps(1, 400, 3)), 2);
    verify_tail(store, run, "rare", 5, 2);
  }

  void what_is_known_follows_new_samples() {
    StoreFixture store;
    const RunId run = store.create("one"), other = store.create("other");
    const std::string log = log_of(tail_steps(1, 500, 4));
    store.feed(run, log);
    store.feed(other, log);
    MetricTails tails;
    const double before = must(tails.read(store.reader, "loss", 10)).at(run).mean;
    must(store.writer->ingest(run, 0, 0, log.size(), log_of(tail_steps(501, 600, 7), 500)));
    const auto after = must(tails.read(store.reader, "loss", 10));
    QVERIFY(after.at(run).mean > before + 2);
    QCOMPARE(after.at(other).mean, before);
    must(store.writer->remove(other));
    QCOMPARE(must(tails.read(store.reader, "loss", 10)).size(), size_t{1});
  }

  void runs_are_filtered_by_it() {
    StoreFixture store;
    for (const auto& [name, shift] : {std::pair("low", 2.0), {"high", 5.0}}) {
      const RunId run = store.create(name);
      store.feed(run, log_of(tail_steps(1, 300, 9)));
      must(store.writer->ingest(run, 0, 0, must(store.writer->cursor(run, 0, 0)),
                                log_of(tail_steps(301, 400, shift), 300)));
    }
    const auto runs = must(store.reader.runs());
    for (const char* text : {"mean(loss, 80) < 3", "mean loss of last 80 < 3",
                             "max(loss,80) < 3.1 and best(loss, 80) > 0.9"}) {
      const auto left = must(filtered(store.reader, RunFilter(text), runs));
      QCOMPARE(left.size(), size_t{1});
      QCOMPARE(left.front().name, std::string("low"));
    }
    QVERIFY(must(filtered(store.reader, RunFilter("mean(loss) < 3"), runs)).empty());
  }
};

HEDDLE_TEST(MetricTailsTest)
#include "metric_tails_test.moc"
