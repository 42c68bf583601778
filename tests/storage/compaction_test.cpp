// Step records once, in few bytes, and all of them: read back as they came.
#include "storage/compaction.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <random>

#include "engine/telemetry/frame.h"
#include "storage/chunk.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

namespace {

int64_t count_in(const StoreFixture& store, const char* sql) {
  return SQLite::Database(store.path, SQLite::OPEN_READONLY).execAndGet(sql).getInt64();
}

std::vector<StepRow> all_steps(Reader& reader, RunId run, size_t limit) {
  std::vector<StepRow> steps;
  for (int64_t after = 0;;) {
    std::vector<StepRow> next = must(reader.steps_after(run, after, limit));
    if (next.empty()) return steps;
    after = next.back().id;
    std::ranges::move(next, std::back_inserter(steps));
  }
}

bool are_equal(const telemetry::Step& a, const telemetry::Step& b) {
  return must(telemetry::encode(a, 0)) == must(telemetry::encode(b, 0));
}

}  // namespace

class CompactionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_log_can_be_made_again_byte_by_byte() {
    StoreFixture store;
    const RunId run = store.create();
    std::vector<telemetry::Record> records = whole_run(3000);
    std::mt19937 random(1);
    for (telemetry::Record& record : records)
      if (auto* step = std::get_if<telemetry::Step>(&record)) {
        if (random() % 5 == 0) step->values.erase("loss");
        if (random() % 7 == 0) step->values["validation_loss"] = random() % 2 ? INFINITY : NAN;
        if (random() % 11 == 0) step->time = 0;
        if (random() % 13 == 0) step->values.clear();
      }
    const std::string log = log_of(records);
    for (size_t at = 0; at < log.size();)
      at = must(store.writer->ingest(run, 0, 0, at, log.substr(at, 9'000))).next_offset;
    must(store.writer->end_log(run, 0, 0));
    QCOMPARE(count_in(store, "SELECT count(*) FROM records WHERE type = 2"), int64_t{0});
    QVERIFY(count_in(store, "SELECT count(*) FROM step_blocks") >= 3);
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    QCOMPARE(must(store.reader.size_of(run)).records, int64_t(records.size()));

    const std::vector<StepRow> steps = all_steps(store.reader, run, 700);
    QCOMPARE(steps.size(), size_t{3000});
    size_t at = 0;
    for (telemetry::Record& record : records)
      if (auto* step = std::get_if<telemetry::Step>(&record)) *step = steps[at++].step;
    QVERIFY(log_of(records) == log);
  }

  void what_chunks_do_not_have_stays_a_record() {
    StoreFixture store;
    const RunId run = store.create();
    std::vector<telemetry::Record> records;
    for (int64_t step = 1; step <= 600; ++step) records.emplace_back(step_record(step));
    std::get<telemetry::Step>(records[100]).step = 40;           // goes back
    std::get<telemetry::Step>(records[200]).step = 200;          // repeats
    std::get<telemetry::Step>(records[300]).values["time"] = 5;  // a name that is taken
    std::get<telemetry::Step>(records[400]).step = -1;
    std::get<telemetry::Step>(records[500]).values[std::string(300, 'x')] = 1;
    const std::string log = log_of(records);
    store.feed(run, log);
    must(store.writer->end_log(run, 0, 0));
    QCOMPARE(count_in(store, "SELECT count(*) FROM records WHERE type = 2"), int64_t{5});
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    const std::vector<StepRow> steps = all_steps(store.reader, run, 1000);
    QCOMPARE(steps.size(), records.size());
    for (size_t i = 0; i < steps.size(); ++i)
      QVERIFY2(are_equal(steps[i].step, std::get<telemetry::Step>(records[i])),
               qPrintable(QString::number(i)));
  }

  void a_record_that_says_more_than_we_know_stays_as_it_came() {
    StoreFixture store;
    const RunId run = store.create();
    std::string log;
    for (uint64_t seq = 0; seq < 300; ++seq)
      log += must(telemetry::encode(step_record(static_cast<int64_t>(seq) + 1), seq));
    // {"step": 301, "more": 7, "values": {"loss": 0.5}}
    const std::string payload(
        "\xa3\x64step\x19\x01\x2d\x64more\x07\x66values\xa1\x64loss\xf9\x38\0", 31);
    log += telemetry::frame(static_cast<uint16_t>(telemetry::Type::step), 300, payload);
    store.feed(run, log);
    must(store.writer->end_log(run, 0, 0));
    QCOMPARE(must(store.reader.samples(run, "loss", 0)).size(), size_t{301});
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    QCOMPARE(count_in(store, "SELECT sum(length(payload)) FROM records"), int64_t{31});
  }

  void a_record_that_is_in_a_block_is_not_taken_twice() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(600));
    store.feed(run, log);
    const LogDigest before = must(store.reader.digests(run))[0];
    const Ingested again = must(store.writer->ingest(run, 0, 0, log.size(), log));
    QCOMPARE(again.records, int64_t{0});
    QVERIFY(!must(store.reader.gaps(run)).empty());
    QVERIFY(same(must(store.reader.digests(run))[0], before));
    QCOMPARE(must(store.reader.samples(run, "loss", 0)).size(), size_t{600});
    QCOMPARE(all_steps(store.reader, run, 1000).size(), size_t{600});
  }

  void steps_of_several_ranks_come_in_the_order_in_which_they_came_in() {
    StoreFixture store;
    const RunId run = store.create();
    std::mt19937 random(1);
    std::map<int, int64_t> newest;
    std::vector<std::pair<int, int64_t>> expected;
    std::map<int, uint64_t> offsets, seqs;
    while (expected.size() < 5000) {
      const int rank = static_cast<int>(random() % 4);
      std::vector<telemetry::Record> records;
      for (size_t i = random() % 400; i > 0; --i) {
        records.emplace_back(step_record(++newest[rank]));
        expected.emplace_back(rank, newest[rank]);
      }
      const std::string bytes = log_of(records, seqs[rank]);
      must(store.writer->ingest(run, rank, 0, offsets[rank], bytes));
      offsets[rank] += bytes.size();
      seqs[rank] += records.size();
    }
    for (const size_t limit : {97, 1000, 100'000}) {
      const std::vector<StepRow> steps = all_steps(store.reader, run, limit);
      QCOMPARE(steps.size(), expected.size());
      for (size_t i = 0; i < steps.size(); ++i) {
        QCOMPARE(int(steps[i].rank), expected[i].first);
        QVERIFY(are_equal(steps[i].step, step_record(expected[i].second)));
        QVERIFY(i == 0 || steps[i].id > steps[i - 1].id);
      }
    }
  }

  void nothing_is_lost_where_a_chunk_begins() {
    for (const size_t count : {kChunkSamples, kChunkSamples + 1, 2 * kChunkSamples + 1}) {
      StoreFixture store;
      const RunId run = store.create();
      std::vector<telemetry::Record> records;
      const auto steps = static_cast<int64_t>(count);
      for (int64_t step = 1; step <= steps; ++step) records.emplace_back(step_record(step));
      store.feed(run, log_of(records));
      must(store.writer->end_log(run, 0, 0));
      const auto samples = must(store.reader.samples(run, "loss", 0));
      QCOMPARE(samples.size(), records.size());
      QCOMPARE(samples.back().step, steps);
      const std::vector<StepRow> rows = all_steps(store.reader, run, 1000);
      QCOMPARE(rows.size(), records.size());
      QVERIFY(are_equal(rows.back().step, step_record(steps)));
    }
  }

  void a_sample_takes_twelve_bytes_at_most() {
    StoreFixture store;
    const RunId run = store.create();
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    constexpr int kSteps = 20'000, kMetrics = 20;
    std::vector<telemetry::Record> records;
    uint64_t offset = 0;
    for (int64_t step = 1; step <= kSteps; ++step) {
      telemetry::Step record{step, 1.78e9 + 0.05 * double(step) + 1e-3 * normal(random), {}};
      for (int i = 0; i < kMetrics; ++i)
        record.values["metric." + std::to_string(i)] = normal(random);
      records.emplace_back(std::move(record));
      if (step % 100 != 0) continue;
      const std::string bytes = log_of(records, static_cast<uint64_t>(step - 100));
      must(store.writer->ingest(run, 0, 0, offset, bytes));
      offset += bytes.size();
      records.clear();
    }
    must(store.writer->end_log(run, 0, 0));
    const double pages =
        double(count_in(store, "SELECT page_count FROM pragma_page_count")) -
        double(count_in(store, "SELECT freelist_count FROM pragma_freelist_count"));
    const double each =
        pages * double(count_in(store, "PRAGMA page_size")) / (double(kSteps) * kMetrics);
    qInfo("%.2f bytes a sample", each);
    QVERIFY2(each <= 12, qPrintable(QString::number(each)));
  }

  void time_and_tokens_are_x_axes_of_a_run() {
    StoreFixture store;
    const RunId run = store.create(), none = store.create();
    std::vector<telemetry::Record> records;
    for (int64_t step = 1; step <= 1000; ++step)
      records.emplace_back(telemetry::Step{step,
                                           1.78e9 + 0.5 * double(step),
                                           {{"loss", 1}, {"tokens_seen", 4096.0 * double(step)}}});
    store.feed(run, log_of(records));
    store.feed(none, log_of({telemetry::Step{1, 0, {{"loss", 1}}}}));
    QCOMPARE(must(store.reader.run(run)).axes, (std::vector<std::string>{"time", "tokens"}));
    QCOMPARE(must(store.reader.run(run)).series, (std::vector<std::string>{"loss", "tokens_seen"}));
    QVERIFY(must(store.reader.run(none)).axes.empty());
    const auto time = must(store.reader.samples(run, "time", 0));
    const auto tokens = must(store.reader.samples(run, "tokens", 0));
    QCOMPARE(time.size(), size_t{1000});
    for (size_t i = 0; i < time.size(); ++i) {
      QCOMPARE(time[i].value, 0.5 * double(i));
      QCOMPARE(tokens[i].value, 4096.0 * double(i + 1));
    }
    const auto bins = must(store.reader.series(run, "time", 0, {501, 600}, 10));
    QVERIFY(bins.size() >= 5 && bins.size() <= 10);
    QCOMPARE(bins.front().min, 250.0);
    QCOMPARE(bins.back().max, 299.5);
    QVERIFY(must(store.reader.samples(none, "time", 0)).empty());
    // A later attempt goes on by the clock.
    records.clear();
    for (int64_t step = 901; step <= 910; ++step)
      records.emplace_back(telemetry::Step{step, 1.78e9 + 10'000 + double(step), {{"loss", 1}}});
    store.feed(run, log_of(records), 0, 1);
    QCOMPARE(must(store.reader.samples(run, "time", 0, {905, 905})).at(0).value, 10'904.5);
  }
};

HEDDLE_TEST(CompactionTest)
#include "compaction_test.moc"
