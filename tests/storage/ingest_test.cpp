// Log bytes to rows: exactly once, whatever pieces they come in; damage reported, the rest kept.
#include <QtTest>
#include <limits>
#include <random>

#include "engine/telemetry/frame.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

class IngestTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_whole_run() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(50));
    const Ingested ingested = store.feed(run, log);
    QCOMPARE(ingested.records, int64_t{1 + 50 + 5 + 5 + 1});
    QCOMPARE(ingested.acknowledged, uint64_t{log.size()});
    QCOMPARE(ingested.next_offset, uint64_t{log.size()});

    const RunDetail detail = must(store.reader.run(run));
    QCOMPARE(detail.summary.state, RunState::running);  // the supervisor's log tells the end
    QCOMPARE(detail.summary.started, std::optional(1e9));
    QCOMPARE(detail.summary.steps, int64_t{50});
    QCOMPARE(detail.summary.loss, std::optional(20.0));
    QCOMPARE(detail.summary.tokens_per_second_per_rank, std::optional(127.0));  // of steps 4 to 50
    QCOMPARE(detail.series, (std::vector<std::string>{"loss", "tokens_per_second"}));
    QCOMPARE(detail.ranks, std::vector<int32_t>{0});
    QCOMPARE(detail.environment.at("host"), Value("loom"));
    QCOMPARE(detail.environment.at("mode"), Value("planned"));
    QCOMPARE(detail.environment.at("ranks"), Value(1.0));
    QCOMPARE(detail.results.at("nodes"), Value(400.0));
    QCOMPARE(detail.results.at("peak_bytes"), Value(3e9));
    QCOMPARE(must(store.reader.profiled_steps(run)), (std::vector<int64_t>{10, 20, 30, 40, 50}));
    const std::vector<RankSpans> spans = must(store.reader.spans(run, 20));
    QCOMPARE(spans.size(), size_t{1});
    QCOMPARE(spans[0].spans.spans[1].name, std::string("all_gather"));
    QCOMPARE(must(store.reader.last_lines(run, 2)).front().text, std::string("step 40"));
    QVERIFY(must(store.reader.gaps(run)).empty());
  }

  void a_predicted_plan_is_kept_and_stands_next_to_what_is_measured() {
    StoreFixture store;
    const RunId run = store.create();
    QVERIFY(!must(store.reader.plan(run)));
    const auto plan = [](const char* hash, const char* document) {
      return telemetry::Plan{1e9, hash, document};
    };
    store.feed(run, log_of({plan("a1", R"({"step_seconds": 2.5, "exposed_seconds": 0.25})")}));
    QCOMPARE(must(store.reader.plan(run))->hash, std::string("a1"));
    const RunDetail detail = must(store.reader.run(run));
    QCOMPARE(detail.results.at("predicted_step_seconds"), Value(2.5));
    QCOMPARE(detail.results.at("predicted_exposed_seconds"), Value(0.25));
    QVERIFY(!detail.results.contains("step_seconds"));

    // One that cannot be read is kept as it is, and tells nothing.
    const RunId other = store.create();
    store.feed(other, log_of({plan("b2", "no json")}));
    QCOMPARE(must(store.reader.plan(other))->document, std::string("no json"));
    QVERIFY(must(store.reader.run(other)).results.empty());
  }

  void the_same_and_overlapping_bytes_change_nothing() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(40));
    std::mt19937 random(1);
    for (int i = 0; i < 400; ++i) {
      const uint64_t have = must(store.writer->cursor(run, 0, 0));
      const uint64_t offset = random() % (have + 1);
      must(store.writer->ingest(run, 0, 0, offset, log.substr(offset, random() % 500)));
    }
    store.feed(run, log);
    const auto lines = must(store.reader.lines_after(run, 0));
    store.feed(run, log);
    const auto digests = must(store.reader.digests(run));
    QCOMPARE(digests.size(), size_t{1});
    QVERIFY(same(digests[0], digest_of(log)));
    QCOMPARE(must(store.reader.lines_after(run, 0)).size(), lines.size());
    QCOMPARE(must(store.reader.samples(run, "loss", 0)).size(), size_t{40});
    QVERIFY(must(store.reader.gaps(run)).empty());
  }

  void after_a_restart_it_goes_on_from_the_cursor() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(300));
    store.feed(run, log.substr(0, log.size() / 2));
    store.writer.reset();
    store.writer = must(Writer::open(store.path));
    must(store.writer->take_lease());
    const uint64_t cursor = must(store.writer->cursor(run, 0, 0));
    QVERIFY(cursor <= log.size() / 2);
    must(store.writer->ingest(run, 0, 0, cursor, log.substr(cursor)));
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    QCOMPARE(must(store.reader.samples(run, "loss", 0)).size(), size_t{300});
    QCOMPARE(store.summary(run).steps, int64_t{300});
  }

  void missing_bytes_are_refused() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(5));
    const auto refused = store.writer->ingest(run, 0, 0, 100, log.substr(100)).get();
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("feed it from 0") != std::string::npos);
    store.feed(run, log);
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
  }

  void damage_is_reported_and_the_rest_kept() {
    StoreFixture store;
    const RunId run = store.create();
    std::string log = log_of(whole_run(30));
    log[log.size() / 2] ^= 0x40;
    const Ingested ingested = store.feed(run, log);
    QCOMPARE(ingested.gaps, int64_t{1});
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    const std::vector<LogGap> gaps = must(store.reader.gaps(run));
    QCOMPARE(gaps.size(), size_t{1});
    QVERIFY(gaps[0].offset < log.size() / 2 && gaps[0].offset + gaps[0].bytes > log.size() / 2);
    int warnings = 0;
    for (const LogLine& line : must(store.reader.lines_after(run, 0))) {
      warnings += line.level == telemetry::Level::warning &&
                  line.text.find("rank 0's log") != std::string::npos;
    }
    QCOMPARE(warnings, 2);  // the damaged bytes, and the record that is missing for them
  }

  void a_torn_tail_waits_until_the_log_has_ended() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(whole_run(5));
    store.feed(run, log.substr(0, log.size() - 3));
    QVERIFY(must(store.reader.gaps(run)).empty());
    QCOMPARE(must(store.writer->end_log(run, 0, 0)).gaps, int64_t{1});
    QCOMPARE(must(store.reader.gaps(run)).size(), size_t{1});
    QCOMPARE(must(store.writer->end_log(run, 0, 0)).gaps, int64_t{0});
  }

  void an_unknown_record_is_kept_as_it_is() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of({telemetry::Log{1, telemetry::Level::info, "first"}}) +
                            telemetry::frame(99, 1, "of a later version") +
                            log_of({step_record(1)}, 2);
    store.feed(run, log);
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    QVERIFY(must(store.reader.lines_after(run, 0))[1].text.find("record 1 is kept") !=
            std::string::npos);
  }

  void a_repeated_number_is_damage() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of({step_record(1), step_record(2)}) + log_of({step_record(3)}, 1));
    QCOMPARE(must(store.reader.logs(run))[0].records, int64_t{2});
    QCOMPARE(must(store.reader.gaps(run)).at(0).reason, std::string("record 1 is there twice"));
  }

  void the_supervisors_end_ends_the_run() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(whole_run(3)));
    store.feed(run,
               log_of({telemetry::Log{1, telemetry::Level::error, "rank 1 died"},
                       telemetry::End{1.5e9, "failed", "rank 1: killed by signal 9", {}}}),
               telemetry::kSupervisorRank);
    const RunSummary summary = store.summary(run);
    QCOMPARE(summary.state, RunState::failed);
    QCOMPARE(summary.cause, std::string("rank 1: killed by signal 9"));
    QCOMPARE(summary.finished, std::optional(1.5e9));
    QCOMPARE(must(store.reader.run(run)).ranks, std::vector<int32_t>{0});
  }

  void the_engines_own_results_stand() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of({step_record(1), step_record(2), step_record(3), step_record(4),
                            telemetry::End{1,
                                           "failed",
                                           "the loss is not finite",
                                           {{"tokens_per_second_per_rank", 77.0}}}}));
    QCOMPARE(store.summary(run).tokens_per_second_per_rank, std::optional(77.0));
    QCOMPARE(store.summary(run).state, RunState::preparing);
    const LogLine line = must(store.reader.last_lines(run, 1)).at(0);
    QCOMPARE(line.level, telemetry::Level::error);
    QCOMPARE(line.text, std::string("the loss is not finite"));
  }

  void a_loss_that_is_not_finite_survives() {
    StoreFixture store;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double loss : {std::nan(""), kInfinity, -kInfinity}) {
      const RunId run = store.create();
      store.feed(run, log_of({telemetry::Step{1, 1, {{"loss", 8.0}}},
                              telemetry::Step{2, 2, {{"loss", loss}}}}));
      must(store.writer->set_results(run, {{"final_loss", loss}}));
      must(store.writer->set_state(run, RunState::done));
      const auto equal = [&](double value) {
        return std::isnan(loss) ? std::isnan(value) : value == loss;
      };
      const RunDetail detail = must(store.reader.run(run));
      QVERIFY(detail.summary.loss && equal(*detail.summary.loss));
      QVERIFY(equal(std::get<double>(detail.results.at("final_loss"))));
      QVERIFY(equal(must(store.reader.samples(run, "loss", 0)).back().value));
      const Bin whole = must(store.reader.series(run, "loss", 0, {}, 1)).at(0);
      QCOMPARE(whole.min, 8.0);
      QCOMPARE(whole.max, 8.0);
      QCOMPARE(whole.nonfinite, 1u);
      QVERIFY(equal(whole.last));
    }
  }

  void a_later_attempt_takes_over_from_its_first_step() {
    StoreFixture store;
    const RunId run = store.create();
    std::vector<telemetry::Record> first, second;
    for (int64_t step = 1; step <= 700; ++step)
      first.push_back(telemetry::Step{step, 1, {{"loss", 1}}});
    for (int64_t step = 501; step <= 900; ++step) {
      second.push_back(telemetry::Step{step, 2, {{"loss", 2}}});
    }
    store.feed(run, log_of(first), 0, 0);
    store.feed(run, log_of(second), 0, 1);
    const std::vector<Sample> samples = must(store.reader.samples(run, "loss", 0));
    QCOMPARE(samples.size(), size_t{900});
    for (size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(samples[i].step, static_cast<int64_t>(i + 1));
      QCOMPARE(samples[i].value, samples[i].step <= 500 ? 1.0 : 2.0);
    }
    QCOMPARE(store.summary(run).steps, int64_t{900});
  }

  void without_the_lease_nothing_is_ingested() {
    StoreFixture store;
    const RunId run = store.create();
    const auto second = must(Writer::open(store.path));
    const Result<> refused = second->take_lease();
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find(std::to_string(getpid())) != std::string::npos);
    QVERIFY(!second->ingest(run, 0, 0, 0, log_of(whole_run(1))).get());
    must(second->set_notes(run, "small commands may pass"));
    must(second->request(run, "stop"));
    const auto requests = must(store.writer->take_requests());
    QCOMPARE(requests.size(), size_t{1});
    QCOMPARE(requests[0].verb, std::string("stop"));
    QVERIFY(must(store.writer->take_requests()).empty());
    store.writer.reset();
    must(second->take_lease());
  }
};

HEDDLE_TEST(IngestTest)
#include "ingest_test.moc"
