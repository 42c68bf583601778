// Charts' numbers compared with the same sums over the raw samples.
#include <QtTest>
#include <random>

#include "storage/chunk.h"
#include "storage/curve.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

class SeriesTest : public QObject {
  Q_OBJECT

  StoreFixture store_;
  RunId run_ = 0;
  std::vector<Sample> truth_;  // of "loss"; "rare" has every seventh step

 private Q_SLOTS:
  void initTestCase() {
    run_ = store_.create();
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::vector<telemetry::Record> records;
    for (int64_t step = 1; step <= 70'001; ++step) {
      double value = normal(random);
      if (step % 1000 == 0) value = std::nan("");
      telemetry::Step record{step, 1e9, {{"loss", value}}};
      if (step % 7 == 0) record.values["rare"] = static_cast<double>(step);
      records.push_back(record);
      truth_.push_back({step, value});
    }
    const std::string log = log_of(records);
    for (size_t at = 0; at < log.size();) {
      at = must(store_.writer->ingest(run_, 0, 0, at, log.substr(at, 20'000 + random() % 20'000)))
               .next_offset;
    }
  }

  void every_sample_is_there() {
    const std::vector<Sample> samples = must(store_.reader.samples(run_, "loss", 0));
    QCOMPARE(samples.size(), truth_.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(samples[i].step, truth_[i].step);
      QVERIFY(samples[i].value == truth_[i].value ||
              (std::isnan(samples[i].value) && std::isnan(truth_[i].value)));
    }
    const std::vector<Sample> rare = must(store_.reader.samples(run_, "rare", 0));
    QCOMPARE(rare.size(), size_t{10'000});
    QCOMPARE(rare.back().step, int64_t{70'000});
  }

  void bins_sum_up_their_samples_data() {
    QTest::addColumn<qint64>("first");
    QTest::addColumn<qint64>("last");
    QTest::addColumn<int>("points");
    const qint64 all = std::numeric_limits<qint64>::max();
    for (const int points : {1, 2, 50, 1000, 2000}) {
      QTest::addRow("everything in %d points", points) << qint64{0} << all << points;
      QTest::addRow("the middle in %d points", points)
          << qint64{12'345} << qint64{54'321} << points;
      QTest::addRow("the newest in %d points", points) << qint64{69'500} << all << points;
    }
    QTest::addRow("one step") << qint64{777} << qint64{777} << 100;
    QTest::addRow("before the first") << qint64{-5} << qint64{0} << 100;
    QTest::addRow("after the last") << qint64{70'002} << all << 100;
    QTest::addRow("nothing between") << qint64{10} << qint64{9} << 100;
  }
  void bins_sum_up_their_samples() {
    QFETCH(qint64, first);
    QFETCH(qint64, last);
    QFETCH(int, points);
    const std::vector<Bin> bins =
        must(store_.reader.series(run_, "loss", 0, {first, last}, static_cast<size_t>(points)));
    QVERIFY(bins.size() <= static_cast<size_t>(points));
    std::vector<Sample> expected;
    for (const Sample& sample : truth_) {
      if (sample.step >= first && sample.step <= last) expected.push_back(sample);
    }
    size_t at = 0;
    for (const Bin& bin : bins) {
      QVERIFY(at + bin.count <= expected.size());
      QCOMPARE(bin.first_step, expected[at].step);
      double min = INFINITY, max = -INFINITY, sum = 0;
      uint32_t finite = 0;
      for (uint32_t i = 0; i < bin.count; ++i, ++at) {
        if (std::isnan(expected[at].value)) continue;
        min = std::min(min, expected[at].value);
        max = std::max(max, expected[at].value);
        sum += expected[at].value;
        ++finite;
      }
      QCOMPARE(bin.last_step, expected[at - 1].step);
      QCOMPARE(bin.count - bin.nonfinite, finite);
      if (finite == 0) continue;
      QCOMPARE(bin.min, min);
      QCOMPARE(bin.max, max);
      QVERIFY(std::abs(bin.mean - sum / finite) < 1e-12);
    }
    QCOMPARE(at, expected.size());
  }

  void an_unknown_series_or_rank_is_empty() {
    QVERIFY(must(store_.reader.samples(run_, "no such", 0)).empty());
    QVERIFY(must(store_.reader.samples(run_, "loss", 5)).empty());
    QVERIFY(must(store_.reader.samples(run_ + 1, "loss", 0)).empty());
  }

  void live_reads_continue_after_the_last_row() {
    std::vector<int64_t> seen;
    for (int64_t after = 0;;) {
      const std::vector<StepRow> rows = must(store_.reader.steps_after(run_, after, 9'999));
      if (rows.empty()) break;
      for (const StepRow& row : rows) seen.push_back(row.step.step);
      after = rows.back().id;
    }
    QCOMPARE(seen.size(), truth_.size());
    for (size_t i = 0; i < seen.size(); ++i) QCOMPARE(seen[i], truth_[i].step);
  }

  void the_newest_steps_of_each_rank_are_where_following_begins() {
    const RunId run = store_.create();
    const auto feed = [&](int32_t rank, int32_t epoch, int64_t first, int64_t last) {
      std::vector<telemetry::Record> records;
      for (int64_t step = first; step <= last; ++step) records.emplace_back(step_record(step));
      must(store_.writer->ingest(run, rank, epoch, 0, log_of(records)));
    };
    feed(0, 0, 1, 3000);  // most of them in blocks, the last ones not
    feed(1, 0, 1, 3000);
    feed(1, 1, 2001, 2004);  // another attempt
    const std::vector<StepRow> all = must(store_.reader.steps_after(run, 0));
    const std::vector<StepRow> newest = must(store_.reader.newest_steps(run, 10));
    QCOMPARE(newest.size(), size_t{20});
    QCOMPARE(newest.back().id, all.back().id);
    const auto isNewest = [](const StepRow& row) {
      return row.epoch == 1 || row.step.step > (row.rank == 0 ? 2990 : 2994);
    };
    size_t next = 0;
    for (const StepRow& row : all) {
      if (!isNewest(row)) continue;
      const StepRow& found = newest[next++];
      QCOMPARE(found.id, row.id);
      QCOMPARE(found.rank, row.rank);
      QCOMPARE(found.epoch, row.epoch);
      QVERIFY(found.step.step == row.step.step && found.step.values == row.step.values);
    }
    QCOMPARE(next, newest.size());
    QVERIFY(must(store_.reader.newest_steps(run + 1, 10)).empty());
  }

  void steps_that_go_back_stay_in_the_records() {
    const RunId run = store_.create();
    constexpr int64_t kNonsense = std::numeric_limits<int64_t>::min();
    store_.feed(run, log_of({step_record(1), step_record(3), step_record(2), step_record(kNonsense),
                             step_record(4)}));
    const auto steps = [&] {
      std::vector<int64_t> steps;
      for (const Sample& sample : must(store_.reader.samples(run, "loss", 0))) {
        steps.push_back(sample.step);
      }
      return steps;
    };
    QCOMPARE(steps(), (std::vector<int64_t>{1, 3, 4}));
    must(store_.writer->end_log(run, 0, 0));
    QCOMPARE(steps(), (std::vector<int64_t>{1, 3, 4}));
    QCOMPARE(must(store_.reader.steps_after(run, 0)).size(), size_t{5});
  }

  void uneven_samples_pack_as_they_are() {
    std::vector<Bin> samples;
    for (const int64_t step : {1, 2, 4, 100, 101}) {
      samples.push_back(bin_of({step, static_cast<double>(step) / 3}));
    }
    const std::vector<Bin> back = unpack(pack(samples, 0), 0);
    QCOMPARE(back.size(), samples.size());
    for (size_t i = 0; i < back.size(); ++i) {
      QCOMPARE(back[i].last_step, samples[i].last_step);
      QCOMPARE(back[i].last, samples[i].last);
    }
  }

  void a_curve_stays_small_even_and_survives_a_round_trip() {
    Curve curve(60);
    for (int64_t step = 1; step <= 1000; ++step) {
      Curve reloaded(60);
      reloaded.load(curve.bytes());
      reloaded.add(step, static_cast<double>(step));
      curve = reloaded;
      QVERIFY(curve.points().size() <= 60);
    }
    QVERIFY(curve.points().size() > 30);
    const int64_t stride = curve.points()[1].step - curve.points()[0].step;
    for (size_t i = 1; i < curve.points().size(); ++i) {
      QCOMPARE(curve.points()[i].step - curve.points()[i - 1].step, stride);
    }
    curve.add(500, 0);
    QVERIFY(curve.points().back().step <= 500);
  }

  void the_median_leaves_out_warm_up_and_what_is_not_finite() {
    Curve curve(512, 3);
    for (const double value : {1.0, 1.0, 1.0, 10.0, std::nan(""), 30.0, 20.0}) {
      curve.add(curve.points().empty() ? 1 : curve.points().back().step + 1, value);
    }
    QCOMPARE(curve.median(), 20.0);
    QVERIFY(std::isnan(Curve(512).median()));
  }
};

HEDDLE_TEST(SeriesTest)
#include "series_test.moc"
