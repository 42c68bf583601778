// Step records in columns are stored exactly like the same records as frames.
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "storage/step_columns.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

namespace {

/// Columns of `metrics` metrics with missing cells; `full`: with none missing.
StepColumns columns_of(int64_t first, size_t steps, int metrics, uint64_t first_seq, bool full) {
  std::mt19937 random(static_cast<unsigned>(first));
  StepColumns columns{first_seq, {}, {}, {}};
  for (size_t row = 0; row < steps; ++row) {
    columns.steps.push_back(first + static_cast<int64_t>(3 * row));
    columns.times.push_back(!full && row % 7 == 0 ? 0 : 1e9 + static_cast<double>(row));
  }
  std::vector<std::string> names = {"loss", "tokens_per_second"};
  for (int i = 2; i < metrics; ++i) names.push_back("metric." + std::to_string(i));
  std::ranges::sort(names);
  for (const std::string& name : names) {
    StepColumns::Metric metric{name, {}, {}};
    for (uint32_t row = 0; row < steps; ++row) {
      if (!full && random() % 3 == 0) continue;
      metric.rows.push_back(row);
      const double value = static_cast<double>(random()) / 1e6;
      metric.values.push_back(!full && random() % 50 == 0 ? NAN : value);
    }
    columns.metrics.push_back(std::move(metric));
  }
  return columns;
}

struct Stored {
  LogDigest digest;
  RunSummary summary;
  std::map<std::string, MetricSummary> metrics;
  std::string log;  // rebuilt from the store
  std::map<std::string, std::vector<Bin>> bins;
};

Stored stored(StoreFixture& store, RunId run) {
  Stored all{must(store.reader.digests(run)).at(0),
             store.summary(run),
             must(store.reader.metric_summaries(run)),
             {},
             {}};
  for (uint64_t seq = 0;;) {
    const LogPiece piece = must(store.reader.log_piece(run, 0, 0, seq));
    if (piece.bytes.empty()) break;
    all.log += piece.bytes;
    seq = piece.next_seq;
  }
  for (const auto& [name, summary] : all.metrics)
    all.bins[name] = must(store.reader.series(run, name, 0, {}, 20));
  return all;
}

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void verify_equal(const Stored& a, const Stored& b) {
  QVERIFY(same(a.digest, b.digest));
  QVERIFY(a.log == b.log);
  QCOMPARE(a.summary.steps, b.summary.steps);
  QVERIFY(std::ranges::equal(a.summary.sparkline, b.summary.sparkline, equal));
  QVERIFY(equal(a.summary.loss.value_or(0), b.summary.loss.value_or(0)));
  QCOMPARE(a.summary.tokens_per_second_per_rank, b.summary.tokens_per_second_per_rank);
  QCOMPARE(a.metrics.size(), b.metrics.size());
  for (const auto& [name, one] : a.metrics) {
    const MetricSummary& other = b.metrics.at(name);
    QCOMPARE(one.count, other.count);
    QCOMPARE(one.nonfinite, other.nonfinite);
    QCOMPARE(one.min_step, other.min_step);
    QCOMPARE(one.max_step, other.max_step);
    QVERIFY(equal(one.mean, other.mean) && equal(one.last, other.last));
    const std::vector<Bin>&bins = a.bins.at(name), &others = b.bins.at(name);
    QCOMPARE(bins.size(), others.size());
    for (size_t i = 0; i < bins.size(); ++i) {
      QCOMPARE(bins[i].first_step, others[i].first_step);
      QCOMPARE(bins[i].nonfinite, others[i].nonfinite);
      QVERIFY(equal(bins[i].min, others[i].min) && equal(bins[i].max, others[i].max));
      QVERIFY(equal(bins[i].mean, others[i].mean) && equal(bins[i].last, others[i].last));
    }
  }
}

const std::string kStart =
    must(telemetry::encode(telemetry::Start{1e9, 0, 1, "imported", {}, {}}, 0));

}  // namespace

class ColumnsTest : public QObject {
  Q_OBJECT

  /// Stores the same parts both ways.
  void compare(const std::vector<StepColumns>& parts) {
    StoreFixture store;
    const RunId frames = store.create("frames"), columns = store.create("columns");
    for (const RunId run : {frames, columns}) must(store.writer->append(run, 0, 0, kStart));
    for (const StepColumns& part : parts) {
      const auto count = static_cast<int64_t>(part.steps.size());
      QCOMPARE(must(store.writer->append(frames, 0, 0, must(frames_of(part)))).records, count);
      QCOMPARE(must(store.writer->append(columns, 0, 0, part)).records, count);
    }
    for (const RunId run : {frames, columns}) must(store.writer->end_log(run, 0, 0));
    QCOMPARE(must(store.reader.logs(columns))[0].offset, must(store.reader.logs(frames))[0].offset);
    verify_equal(stored(store, columns), stored(store, frames));
    const auto rows = must(store.reader.steps_after(columns, 0, 100'000));
    for (size_t i = 1; i < rows.size(); ++i) QVERIFY(rows[i].id > rows[i - 1].id);
  }

 private Q_SLOTS:
  void columns_are_stored_like_their_frames() {
    compare({columns_of(1, 3000, 5, 1, true)});
    compare({columns_of(1, 3000, 5, 1, false)});
    compare({columns_of(0, 700, 3, 1, true), columns_of(5000, 2500, 4, 701, false),
             columns_of(20'000, 1, 2, 3201, true)});
  }

  void values_that_chunks_cannot_hold_stay_records() {
    StepColumns taken = columns_of(1, 600, 3, 1, true);
    taken.metrics.insert(taken.metrics.end() - 1, {"time", {5, 6}, {1, 2}});
    compare({taken});
    StepColumns longer = columns_of(1, 300, 3, 1, true);
    longer.metrics.push_back({std::string(300, 'x'), {7}, {1}});
    compare({longer});
  }

  void parts_that_do_not_follow_are_refused_and_change_nothing() {
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->append(run, 0, 0, kStart));
    must(store.writer->append(run, 0, 0, columns_of(100, 50, 2, 1, true)));
    const Stored before = stored(store, run);
    const auto refused = [&](const StepColumns& part) {
      const auto done = store.writer->append(run, 0, 0, part).get();
      return done ? std::string() : done.error().message;
    };
    QCOMPARE(refused(columns_of(1000, 5, 2, 50, true)),
             std::string("found record 50 instead of record 51"));
    QVERIFY(refused(columns_of(7, 5, 2, 51, true)).starts_with("15 samples are not after"));
    StepColumns twice = columns_of(1000, 5, 2, 51, true);
    twice.steps[3] = twice.steps[2];
    QVERIFY(refused(twice).starts_with("step 1006 does not follow step 1006"));
    verify_equal(stored(store, run), before);
    must(store.writer->append(run, 0, 0, columns_of(1000, 5, 2, 51, true)));
    QCOMPARE(must(store.reader.metric_summaries(run)).at("loss").count, int64_t{55});
  }

  // The writer keeps few pages, however much it writes.
  void memory_is_bounded() {
    constexpr int64_t kMaxBytes = int64_t{14} << 20;
    constexpr size_t kSteps = 20'000;
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->append(run, 0, 0, kStart));
    for (uint64_t part = 0; std::filesystem::file_size(store.path) < 2 * kMaxBytes; ++part)
      must(store.writer->append(run, 0, 0,
                                columns_of(static_cast<int64_t>(part * kSteps * 3), kSteps, 20,
                                           1 + part * kSteps, true)));
    QVERIFY2(sqlite3_memory_used() < kMaxBytes, qPrintable(QString::number(sqlite3_memory_used())));
  }
};

HEDDLE_TEST(ColumnsTest)
#include "columns_test.moc"
