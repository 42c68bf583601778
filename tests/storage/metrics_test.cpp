// Summaries of metrics compared with their samples; reads of the runs that changed.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <random>

#include "storage/migrations.h"
#include "storage/schema.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

namespace {

/// The summary that follows from a chart's samples.
MetricSummary summed_up(const std::vector<Sample>& samples) {
  MetricSummary summary;
  for (const Sample& sample : samples) add(summary, sample.step, sample.value);
  return summary;
}

bool is_same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-9 * std::abs(a);
}

bool agree(const MetricSummary& a, const MetricSummary& b) {
  return a.count == b.count && a.nonfinite == b.nonfinite && is_same_number(a.last, b.last) &&
         is_same_number(a.min, b.min) && is_same_number(a.max, b.max) &&
         is_same_number(a.mean, b.mean) && a.last_step == b.last_step && a.min_step == b.min_step &&
         a.max_step == b.max_step;
}

std::vector<telemetry::Record> noisy_steps(int64_t first, int64_t last, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<telemetry::Record> records;
  for (int64_t step = first; step <= last; ++step) {
    telemetry::Step record{step, 1e9 + static_cast<double>(step), {{"loss", normal(random)}}};
    if (step % 100 == 0) record.values["loss"] = step % 200 ? std::nan("") : INFINITY;
    if (step % 7 == 0) record.values["rare"] = normal(random);
    records.emplace_back(record);
  }
  return records;
}

std::vector<RunId> ids_of(const std::vector<RunSummary>& runs) {
  std::vector<RunId> ids;
  for (const RunSummary& run : runs) ids.push_back(run.id);
  return ids;
}

/// The rows of a log as schema 2 had them.
void add_log(SQLite::Database& old, int epoch, const std::string& log) {
  telemetry::LogReader reader;
  reader.feed(log);
  SQLite::Statement insert(
      old,
      "INSERT INTO records (run, rank, epoch, seq, type, offset, checksum, payload) "
      "VALUES (7, 0, ?, ?, 2, 0, ?, ?)");
  int64_t seq = 0;
  for (; const auto event = reader.next(); ++seq) {
    const auto& frame = std::get<telemetry::Frame>(*event);
    insert.bind(1, epoch);
    insert.bind(2, seq);
    insert.bind(3, static_cast<int64_t>(frame.checksum));
    insert.bind(4, frame.payload.data(), static_cast<int>(frame.payload.size()));
    insert.exec();
    insert.reset();
  }
  old.exec(fmt::format(
      "INSERT INTO logs (run, rank, epoch, offset, next_seq, records, pending, compacted) "
      "VALUES (7, 0, {0}, {1}, {2}, {2}, {2}, 0)",
      epoch, log.size(), seq));
}

}  // namespace

class MetricsTest : public QObject {
  Q_OBJECT

  static void verify_all(StoreFixture& store, RunId run, int32_t rank = 0) {
    const auto summaries = must(store.reader.metric_summaries(run));
    QVERIFY(!summaries.empty());
    for (const auto& [name, summary] : summaries) {
      QVERIFY2(agree(summary, summed_up(must(store.reader.samples(run, name, rank)))),
               name.c_str());
      QVERIFY(agree(must(store.reader.metric_summaries(name)).at(run), summary));
    }
  }

 private Q_SLOTS:
  void a_summary_is_that_of_the_samples_at_any_moment() {
    StoreFixture store;
    const RunId run = store.create();
    const std::string log = log_of(noisy_steps(1, 3000, 1));
    for (size_t at = 0; at < log.size();) {
      at = must(store.writer->ingest(run, 0, 0, at, log.substr(at, 50'000))).next_offset;
      verify_all(store, run);
    }
    QCOMPARE(must(store.reader.metric_names()), (std::vector<std::string>{"loss", "rare"}));
    const MetricSummary loss = must(store.reader.metric_summaries(run)).at("loss");
    QCOMPARE(loss.count, int64_t{3000});
    QCOMPARE(loss.nonfinite, int64_t{30});
    QVERIFY(std::isinf(loss.last));
  }

  void a_summary_goes_on_after_a_restart() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(noisy_steps(1, 700, 1)));
    store.writer.reset();
    store.writer = must(Writer::open(store.path));
    must(store.writer->take_lease());
    const uint64_t at = must(store.writer->cursor(run, 0, 0));
    must(store.writer->ingest(run, 0, 0, at, log_of(noisy_steps(701, 900, 2), 700)));
    verify_all(store, run);
  }

  void a_later_attempt_s_steps_replace_those_it_repeats() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(noisy_steps(1, 20'000, 1)));
    store.feed(run, log_of(noisy_steps(9'001, 15'000, 2)), 0, 1);
    QCOMPARE(must(store.reader.metric_summaries(run)).at("loss").count, int64_t{15'000});
    verify_all(store, run);
    // The first attempt's log was read late.
    const uint64_t at = must(store.writer->cursor(run, 0, 0));
    must(store.writer->ingest(run, 0, 0, at, log_of(noisy_steps(20'001, 20'100, 3), 20'000)));
    verify_all(store, run);
  }

  void it_is_that_of_the_lowest_rank_that_has_the_metric() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(noisy_steps(1, 300, 3)), 3);
    verify_all(store, run, 3);
    store.feed(run, log_of(noisy_steps(1, 200, 1)), 1);
    verify_all(store, run, 1);
    store.feed(run, log_of(noisy_steps(1, 500, 2)), 2);
    verify_all(store, run, 1);
  }

  void a_removed_run_has_none() {
    StoreFixture store;
    const RunId run = store.create("gone"), other = store.create("stays");
    store.feed(run, log_of(noisy_steps(1, 20, 1)));
    store.feed(other, log_of(noisy_steps(1, 20, 2)));
    must(store.writer->remove(run));
    QVERIFY(must(store.reader.metric_summaries(run)).empty());
    QCOMPARE(must(store.reader.metric_summaries("loss")).size(), size_t{1});
  }

  void an_older_store_gets_them_when_it_is_migrated() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    must(migrate(path, migrations().first(2)));
    const std::string first = log_of(noisy_steps(1, 20'000, 1)),
                      second = log_of(noisy_steps(15'001, 15'100, 2));
    {
      SQLite::Database old(path, SQLite::OPEN_READWRITE);
      old.exec(
          "INSERT INTO runs (id, name, state, target, recipe_name, created, hosts, run_dir) "
          "VALUES (7, 'old', 'done', '', '', 1, '[]', '');"
          "INSERT INTO recipes VALUES (7, ''); INSERT INTO summaries (run) VALUES (7);"
          "INSERT INTO curves (run) VALUES (7);"
          "INSERT INTO series (run, name) VALUES (7, 'loss'), (7, 'rare')");
      SQLite::Transaction transaction(old);
      for (const auto& [epoch, log] : {std::pair(0, first), std::pair(1, second)})
        add_log(old, epoch, log);
      transaction.commit();
    }
    Reader reader = must(Reader::open(path));
    for (const char* name : {"loss", "rare"}) {
      const auto samples = must(reader.samples(7, name, 0));
      QCOMPARE(samples.back().step,
               name == std::string("loss") ? int64_t{15'100} : int64_t{15'099});
      QVERIFY(agree(must(reader.metric_summaries(7)).at(name), summed_up(samples)));
    }
    QCOMPARE(must(reader.samples(7, "time", 0, {100, 100})).at(0).value, 99.0);
    QVERIFY(same(must(reader.digests(7))[0], digest_of(first)));
    QVERIFY(same(must(reader.digests(7))[1], digest_of(second, 0, 1)));
    QCOMPARE(must(reader.steps_after(7, 0, 100'000)).size(), size_t{20'100});
    QCOMPARE(ids_of(must(reader.runs_changed_since(0)).changed), std::vector<RunId>{7});
  }

  void only_runs_that_changed_are_read_again() {
    StoreFixture store;
    const RunId first = store.create("first"), second = store.create("second"),
                third = store.create("third");
    RunChanges changes = must(store.reader.runs_changed_since(0));
    QCOMPARE(ids_of(changes.changed), (std::vector<RunId>{first, second, third}));
    const auto next = [&] {
      changes = must(store.reader.runs_changed_since(changes.cursor));
      return ids_of(changes.changed);
    };
    QVERIFY(next().empty());
    must(store.writer->change_tags(second, {"fp8"}));
    QCOMPARE(next(), std::vector<RunId>{second});
    QCOMPARE(changes.changed.front().tags, std::vector<std::string>{"fp8"});
    store.feed(third, log_of(noisy_steps(1, 5, 1)));
    must(store.writer->set_results(first, {{"peak_bytes", 1e9}}));
    QCOMPARE(next(), (std::vector<RunId>{third, first}));
    must(store.writer->set_state(third, RunState::done));
    must(store.writer->trash(third));
    QCOMPARE(next(), std::vector<RunId>{third});
    QVERIFY(changes.changed.front().trashed);
    must(store.writer->remove(third));
    QVERIFY(next().empty());
    QCOMPARE(changes.removed, std::vector<RunId>{third});
    QVERIFY(next().empty());
    QVERIFY(changes.removed.empty());
  }

  void the_list_of_runs_is_right_after_any_change() {
    StoreFixture store;
    const auto both = [&](bool trashed) {
      Reader fresh = must(Reader::open(store.path));
      QCOMPARE(ids_of(must(store.reader.runs(trashed))), ids_of(must(fresh.runs(trashed))));
    };
    std::vector<RunId> runs;
    for (int i = 0; i < 5; ++i) {
      NewRun run = named("run");
      run.created = i == 3 ? 1 : 100 + i;  // an old one, imported
      runs.push_back(must(store.writer->create_run(run)).id);
      both(false);
    }
    must(store.writer->set_state(runs[0], RunState::done));
    must(store.writer->trash(runs[0]));
    both(false);
    both(true);
    must(store.writer->rename(runs[1], "another"));
    QCOMPARE(must(store.reader.runs())[2].name, std::string("another"));
    must(store.writer->remove(runs[2]));
    must(store.writer->restore(runs[0]));
    both(false);
    both(true);
  }

  void a_run_whose_parent_is_removed_has_changed() {
    StoreFixture store;
    const RunId parent = store.create("parent");
    NewRun child = named("child");
    child.lineage = Lineage{Lineage::Kind::fork, parent, "parent", 5};
    const RunId run = must(store.writer->create_run(child)).id;
    QCOMPARE(must(store.reader.runs()).front().lineage->parent, parent);
    must(store.writer->remove(parent));
    const auto runs = must(store.reader.runs());
    QCOMPARE(ids_of(runs), std::vector<RunId>{run});
    QCOMPARE(runs.front().lineage->parent, RunId{0});
  }

  void a_run_keeps_star_archive_color_and_group() {
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->set_starred(run, true));
    must(store.writer->set_archived(run, true));
    must(store.writer->set_color(run, "#56b4e9"));
    must(store.writer->set_group(run, "lr sweep"));
    RunSummary summary = store.summary(run);
    QVERIFY(summary.starred && summary.archived);
    QCOMPARE(summary.color, std::string("#56b4e9"));
    QCOMPARE(summary.group, std::string("lr sweep"));
    must(store.writer->set_starred(run, false));
    must(store.writer->set_archived(run, false));
    must(store.writer->set_color(run, ""));
    summary = store.summary(run);
    QVERIFY(!summary.starred && !summary.archived && summary.color.empty());
    VERIFY_SAYS(store.writer->set_color(run, "red").get(), "valid: #rrggbb");
    VERIFY_SAYS(store.writer->set_group(run, "two\nlines").get(), "valid: one line");
  }
};

HEDDLE_TEST(MetricsTest)
#include "metrics_test.moc"
