// Runs as rows: states, names, notes, comparison, removal, targets, the JSON that commands print.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <algorithm>

#include "storage/clock.h"
#include "storage/json.h"
#include "storage/run_name.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
using nlohmann::json;

namespace {

telemetry::Start start_at(double time) { return {time, 0, 1, "planned", {}, {}}; }

}  // namespace

class RunsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_are_made_unique() {
    StoreFixture store;
    store.create("debug");
    store.create("debug");
    store.create("debug");
    std::vector<std::string> names;
    for (const RunSummary& run : must(store.reader.runs())) names.push_back(run.name);
    QCOMPARE(names, (std::vector<std::string>{"debug-3", "debug-2", "debug"}));
    QVERIFY(!store.writer->rename(must(store.reader.find_run("debug-3")).id, "debug").get());
    must(store.writer->rename(must(store.reader.find_run("debug-3")).id, "third"));
    QCOMPARE(must(store.reader.find_run("third")).id, RunId{3});
  }

  void a_run_is_found_by_name_or_id() {
    StoreFixture store;
    store.create("first");
    const RunId second = store.create("second");
    const RunId numeric = store.create("1");
    QCOMPARE(must(store.reader.find_run("second")).id, second);
    QCOMPARE(must(store.reader.find_run("2")).id, second);
    QCOMPARE(must(store.reader.find_run("1")).id, numeric);  // a name comes before an id
    for (const char* absent : {"", "nine", "9", "99999999999999999999", "-1"}) {
      const auto missing = store.reader.find_run(absent);
      QVERIFY(!missing);
      QVERIFY(missing.error().message.find("heddle runs") != std::string::npos);
    }
  }

  void states_are_kept_with_their_times() {
    StoreFixture store;
    const RunId run = store.create();
    QCOMPARE(store.summary(run).state, RunState::preparing);
    must(store.writer->set_state(run, RunState::running, "", 10));
    must(store.writer->set_state(run, RunState::lost, "the supervisor died", 20));
    const RunSummary summary = store.summary(run);
    QCOMPARE(summary.state, RunState::lost);
    QCOMPARE(summary.cause, std::string("the supervisor died"));
    QCOMPARE(summary.started, std::optional(10.0));
    QCOMPARE(summary.finished, std::optional(20.0));
    QVERIFY(!store.writer->set_state(run + 1, RunState::done).get());
  }

  void a_lost_run_ends_with_its_last_sign_of_life() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(
        run, log_of({start_at(1000), telemetry::Step{1, 1007, {}}, telemetry::Step{2, 1012, {}}}));
    must(store.writer->set_state(run, RunState::lost, "imported without an end.json"));
    QCOMPARE(store.summary(run).finished, std::optional(1012.0));
    QCOMPARE(seconds_taken(store.summary(run)), std::optional(12.0));

    const RunId mute = store.create();
    must(store.writer->set_state(mute, RunState::running, "", 500));
    must(store.writer->set_state(mute, RunState::lost, "no word of it"));
    QCOMPARE(seconds_taken(store.summary(mute)), std::optional(0.0));
  }

  // Readers of changes hear of it.
  void a_run_whose_job_waits() {
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->set_link(run, {.heard = 1, .waits = "waits in train"}));
    QCOMPARE(store.summary(run).state, RunState::preparing);
    must(store.writer->set_state(run, RunState::running));
    const int64_t before = must(store.reader.runs_changed_since(0)).cursor;
    must(store.writer->set_link(run, {.heard = 2, .waits = "waits in train; position 3"}));
    // A lost connection does not make it run.
    must(store.writer->set_link(
        run, {.heard = 2, .lost = 3.0, .reason = "cut", .waits = "waits in train; position 3"}));
    QCOMPARE(store.summary(run).state, RunState::waiting);
    QCOMPARE(store.summary(run).cause, std::string("waits in train; position 3"));
    QCOMPARE(must(store.reader.unfinished_runs()).at(0).state, RunState::waiting);
    const auto changes = must(store.reader.runs_changed_since(before)).changed;
    QCOMPARE(changes.size(), size_t{1});
    QCOMPARE(changes[0].state, RunState::waiting);
    must(store.writer->set_link(run, {.heard = 4}));
    QCOMPARE(store.summary(run).state, RunState::running);
    QCOMPARE(store.summary(run).cause, std::string());
    must(store.writer->set_link(run, {.heard = 5, .waits = "waits in train"}));
    must(store.writer->set_state(run, RunState::stopped, "by a user"));
    QCOMPARE(store.summary(run).state, RunState::stopped);
    QCOMPARE(store.summary(run).cause, std::string("by a user"));
  }

  void a_clock_that_went_back_makes_no_duration() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of({start_at(1e9)}));
    must(store.writer->set_state(run, RunState::done, "", 1e9 - 86400));
    QVERIFY(!seconds_taken(store.summary(run)));
    QVERIFY(!seconds_taken(RunSummary{}));
  }

  void times_of_a_host_whose_clock_is_off_are_ours() {
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->set_state(run, RunState::running, "", 1000));
    must(store.writer->set_environment(run, {{kClockAhead, -10800.0}}));
    store.feed(run, log_of({start_at(1001 - 10800)}));
    QCOMPARE(store.summary(run).started, std::optional(1001.0));
    store.feed(run, log_of({telemetry::End{1021 - 10800, "done", "", {}}}),
               telemetry::kSupervisorRank);
    QCOMPARE(seconds_taken(store.summary(run)), std::optional(20.0));
  }

  void tags_notes_and_place() {
    StoreFixture store;
    const RunId run = store.create();
    must(store.writer->change_tags(run, {"baseline", "größer, \"quoted\""}));
    must(store.writer->set_notes(run, "first try\nsecond line"));
    must(store.writer->set_place(run, "[\"loom\"]", "/srv/run"));
    const RunDetail detail = must(store.reader.run(run));
    QCOMPARE(detail.summary.tags, (std::vector<std::string>{"baseline", "größer, \"quoted\""}));
    QCOMPARE(detail.summary.notes, std::string("first try\nsecond line"));
    QCOMPARE(detail.hosts, std::string("[\"loom\"]"));
    QCOMPARE(detail.run_dir, std::string("/srv/run"));
    QVERIFY(!store.writer->set_notes(run + 1, "").get());
  }

  void tags_of_two_writers_all_stay() {
    StoreFixture store;
    const RunId run = store.create();
    const auto other = must(Writer::open(store.path));
    must(store.writer->change_tags(run, {"old"}));
    std::vector<Writer::Future<std::vector<std::string>>> changes;
    std::vector<std::string> wanted;
    for (int i = 0; i < 40; ++i) {
      wanted.push_back("tag " + std::to_string(i));
      changes.push_back((i % 2 ? store.writer : other)->change_tags(run, {wanted.back()}));
    }
    for (auto& change : changes) must(std::move(change));
    auto tags = must(other->change_tags(run, {"tag 1", "new"}, {"old", "never there"}));
    wanted.emplace_back("new");
    QCOMPARE(store.summary(run).tags, tags);
    std::ranges::sort(tags);
    std::ranges::sort(wanted);
    QCOMPARE(tags, wanted);
    QVERIFY(!other->change_tags(run + 1, {"x"}).get());
    // A change to the same tags changes nothing.
    const int64_t cursor = must(store.reader.runs_changed_since(0)).cursor;
    must(other->change_tags(run, {"new"}, {"old"}));
    QVERIFY(must(store.reader.runs_changed_since(cursor)).changed.empty());
  }

  void a_comparison_shows_what_differs() {
    StoreFixture store;
    const RunId first = store.create("first");
    NewRun other = named("second");
    other.recipe_values = {{"model.preset", "\"llama3-debug\""},
                           {"optimizer.lr", "0.001"},
                           {"recompute.mode", "\"full\""}};
    const RunId second = must(store.writer->create_run(other)).id;
    must(store.writer->set_environment(first, {{"host", "loom"}, {"cores", 2.0}}));
    must(store.writer->set_environment(second, {{"host", "loom"}, {"cores", 4.0}}));
    must(store.writer->set_results(first, {{"peak_bytes", 3e9}}));

    const json compared = compare_json(must(store.reader.compare({first, second})));
    const json differences = {{"environment.cores", {2, 4}},
                              {"optimizer.lr", {"0.0003", "0.001"}},
                              {"recompute.mode", {nullptr, "\"full\""}}};
    QCOMPARE(compared["differences"].dump(), differences.dump());
    const json results = {{"peak_bytes", {3'000'000'000, nullptr}}};
    QCOMPARE(compared["results"].dump(), results.dump());
    QCOMPARE(compared["runs"].size(), size_t{2});
    QVERIFY(!store.reader.compare({first, 99}));
    QVERIFY(same(Value(0.1 + 0.2), Value(0.3)) && same(Value(std::nan("")), Value(std::nan(""))));
    QVERIFY(same(Value("1e-3"), Value("0.001")) && same(std::nullopt, std::nullopt));
    QVERIFY(!same(Value(3.98123), Value(3.98124)) && !same(Value(0.0), std::nullopt));
    QVERIFY(!same(Value("auto"), Value("none")) && !same(Value(1.0), Value("auto")));
    QCOMPARE(must(store.reader.column("recipe.optimizer.lr")),
             (std::map<RunId, Value>{{first, "0.0003"}, {second, "0.001"}}));
    QVERIFY(must(store.reader.column("recipe.no_such")).empty());
  }

  void json_has_the_stable_keys() {
    StoreFixture store;
    const RunId run = store.create("debug");
    json runs = runs_json(must(store.reader.runs()));
    QVERIFY(runs[0]["loss"].is_null());
    store.feed(run, log_of(whole_run(20)));
    runs = runs_json(must(store.reader.runs()));
    std::vector<std::string> keys;
    for (const auto& [key, value] : runs[0].items()) keys.push_back(key);
    QCOMPARE(keys,
             (std::vector<std::string>{"created", "id", "loss", "name", "parent", "recipe_name",
                                       "state", "steps", "target", "tokens_per_second_per_rank"}));
    QCOMPARE(runs[0]["loss"], 50.0);
    QCOMPARE(runs[0]["state"], "running");
    must(store.writer->set_results(run, {{"odd", "\xff"}}));
    const json shown = show_json(must(store.reader.run(run)));
    QCOMPARE(shown["recipe"], "[model]\npreset = \"llama3-debug\"\n");
    QCOMPARE(shown["environment"], (json{{"host", "loom"}, {"mode", "planned"}, {"ranks", 1}}));
    QCOMPARE(shown["series"], (json{"loss", "tokens_per_second"}));
    QCOMPARE(shown["results"]["nodes"], 400);
    QCOMPARE(shown["results"]["odd"], "\uFFFD");

    store.feed(store.create("nan"), log_of({telemetry::Step{1, 1, {{"loss", std::nan("")}}}}));
    QCOMPARE(runs_json(must(store.reader.runs()))[0]["loss"], "nan");
  }

  void the_trash_gives_back_and_removal_leaves_no_row() {
    StoreFixture store;
    const RunId run = store.create("gone");
    const RunId kept = store.create("kept");
    for (const RunId id : {run, kept}) {
      std::string log = log_of(whole_run(300));
      log[log.size() / 2] ^= 1;
      store.feed(id, log);
      must(store.writer->end_log(id, 0, 0));
      must(store.writer->request(id, "stop"));
      must(store.writer->set_link(id, {.heard = 1e9}));
    }
    QVERIFY(!store.writer->trash(run).get());  // it is running
    must(store.writer->set_state(run, RunState::done));
    must(store.writer->trash(run));
    QCOMPARE(must(store.reader.runs()).size(), size_t{1});
    QCOMPARE(must(store.reader.runs(true)).at(0).name, std::string("gone"));
    QVERIFY(must(store.reader.runs(true)).at(0).trashed.has_value());
    must(store.writer->restore(run));
    QCOMPARE(must(store.reader.runs()).size(), size_t{2});

    must(store.writer->remove(run));
    QVERIFY(!store.reader.run(run));
    QVERIFY(!store.writer->remove(run).get());
    QVERIFY(!store.writer->ingest(run, 0, 0, 0, log_of(whole_run(1))).get());
    SQLite::Database database(store.path, SQLite::OPEN_READONLY);
    SQLite::Statement tables(
        database,
        "SELECT DISTINCT m.name FROM sqlite_schema m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND c.name = 'run' AND m.name NOT IN ('queue', 'removed_runs')");
    int checked = 0;
    while (tables.executeStep()) {
      const std::string table = tables.getColumn(0).getString();
      const auto rows = [&](RunId id) {
        return database
            .execAndGet("SELECT count(*) FROM " + table + " WHERE run = " + std::to_string(id))
            .getInt64();
      };
      QVERIFY2(rows(run) == 0, table.c_str());
      QVERIFY2(rows(kept) > 0, table.c_str());
      ++checked;
    }
    QCOMPARE(checked, 14);
    QCOMPARE(
        database
            .execAndGet("SELECT count(*) FROM chunks WHERE series NOT IN (SELECT id FROM series)")
            .getInt64(),
        int64_t{0});
    QCOMPARE(must(store.reader.samples(kept, "loss", 0)).size(), size_t{299});
  }

  void what_is_in_the_trash_is_found_there_only() {
    StoreFixture store;
    const RunId run = store.create("gone");
    must(store.writer->set_state(run, RunState::done));
    must(store.writer->trash(run));
    for (const char* name : {"gone", "1"}) {
      const auto hidden = store.reader.find_run(name);
      QVERIFY(!hidden);
      QVERIFY(hidden.error().message.find("is in the trash") != std::string::npos);
      QCOMPARE(must(store.reader.find_run(name, true)).id, run);
    }
    QVERIFY(runs_json(must(store.reader.runs())).empty());
    QCOMPARE(must(store.reader.run(run)).summary.name, std::string("gone"));
  }

  void names_in_the_trash_are_free() {
    StoreFixture store;
    const RunId first = store.create("debug");
    must(store.writer->set_state(first, RunState::done));
    must(store.writer->trash(first));
    const RunId second = store.create("debug");
    QCOMPARE(store.summary(second).name, std::string("debug"));
    QCOMPARE(store.summary(first).name, std::string("debug (trashed)"));
    must(store.writer->set_state(second, RunState::done));
    must(store.writer->trash(second));
    const RunId third = store.create("debug");
    QCOMPARE(store.summary(third).name, std::string("debug"));
    QCOMPARE(store.summary(second).name, std::string("debug (trashed 2)"));
    // Back under its own name, as far as that is free.
    must(store.writer->restore(first));
    QCOMPARE(store.summary(first).name, std::string("debug-2"));
    must(store.writer->rename(third, "third"));
    must(store.writer->restore(second));
    QCOMPARE(store.summary(second).name, std::string("debug"));
    must(store.writer->restore(second));  // it is back already
    QCOMPARE(store.summary(second).name, std::string("debug"));
  }

  void an_import_needs_no_lease_and_comes_once() {
    StoreFixture store;  // its writer has the lease
    const auto beside = must(Writer::open(store.path));
    NewRun import = named("copy");
    import.imported = true;
    import.target = "imported";
    import.run_dir = "/elsewhere/run";
    const RunId run = must(beside->create_run(import)).id;
    must(beside->ingest(run, 0, 0, 0, log_of(whole_run(20))));
    must(beside->end_log(run, 0, 0));
    QCOMPARE(store.summary(run).steps, int64_t{20});
    QVERIFY(!beside->ingest(store.create("other"), 0, 0, 0, log_of(whole_run(1))).get());
    for (Writer* writer : {beside.get(), store.writer.get()}) {
      const auto again = writer->create_run(import).get();
      QVERIFY(!again);
      QVERIFY(again.error().message.find("here already, as copy") != std::string::npos);
    }
    QCOMPARE(must(store.reader.runs_in("/elsewhere/run")), std::vector<RunId>{run});
    QVERIFY(must(store.reader.size_of(run)).records > 20);
  }

  void a_removed_runs_rows_are_never_taken_for_new_ones() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(whole_run(10)));
    const int64_t last = must(store.reader.steps_after(run, 0)).back().id;
    must(store.writer->remove(run));
    const RunId next = store.create();
    QVERIFY(next > run);
    store.feed(next, log_of(whole_run(1)));
    QVERIFY(must(store.reader.steps_after(next, 0)).front().id > last);
  }

  void targets_are_replaced_by_name() {
    StoreFixture store;
    must(store.writer->save_target({"node-2", "ssh", "[\"b\"]", "[]", "{}"}));
    must(store.writer->save_target({"node-1", "ssh", "[\"a\"]", "[]", "{}"}));
    must(store.writer->save_target({"node-2", "slurm", "[\"c\"]", "[\"SHA256:x\"]", "{}"}));
    const std::vector<Target> targets = must(store.reader.targets());
    QCOMPARE(targets.size(), size_t{2});
    QCOMPARE(targets[0].name, std::string("node-1"));
    QCOMPARE(targets[1].kind, std::string("slurm"));
    QCOMPARE(targets[1].host_keys, std::string("[\"SHA256:x\"]"));
    must(store.writer->remove_target("node-1"));
    QVERIFY(!store.writer->remove_target("node-1").get());
    QVERIFY(!store.writer->save_target({}).get());
  }

  void a_page_learns_that_something_changed() {
    StoreFixture store;
    QVERIFY(must(store.reader.changed()));
    QVERIFY(!must(store.reader.changed()));
    store.create();
    QVERIFY(must(store.reader.changed()));
    QVERIFY(!must(store.reader.changed()));
  }

  void one_failing_command_does_not_undo_its_neighbours() {
    StoreFixture store;
    std::vector<std::future<Result<CreatedRun>>> created;
    std::vector<std::future<Result<>>> refused;
    for (int i = 0; i < 50; ++i) {
      created.push_back(store.writer->create_run(named("many")));
      refused.push_back(store.writer->set_notes(12'345, "no such run"));
    }
    for (auto& future : refused) QVERIFY(!future.get());
    for (auto& future : created) QVERIFY(future.get().has_value());
    QCOMPARE(must(store.reader.runs()).size(), size_t{50});
  }
  // Names say what runs are, and stay short.
  void runs_that_go_on_are_named_by_their_steps() {
    using Kind = Lineage::Kind;
    RunSummary parent;
    const auto name = [&](const char* of, bool goes_on, Kind kind) {
      parent.name = of;
      parent.lineage = goes_on ? std::optional(Lineage{}) : std::nullopt;
      return continued_name(parent, kind, 500, 900);
    };
    QCOMPARE(name("debug", false, Kind::resume), std::string("debug→900"));
    QCOMPARE(name("debug", false, Kind::fork), std::string("debug@500"));
    QCOMPARE(name("debug→700", true, Kind::resume), std::string("debug→900"));
    QCOMPARE(name("debug→700-2", true, Kind::resume), std::string("debug→900"));
    QCOMPARE(name("debug@300", true, Kind::resume), std::string("debug@300→900"));
    QCOMPARE(name("debug@300→700", true, Kind::resume), std::string("debug@300→900"));
    QCOMPARE(name("debug@300→700", true, Kind::fork), std::string("debug@500"));
    // Nothing is dropped from a name that a person gave.
    QCOMPARE(name("lr@30", false, Kind::fork), std::string("lr@30@500"));
    QCOMPARE(name("lr-2", true, Kind::resume), std::string("lr-2→900"));
    QCOMPARE(name("→700", true, Kind::resume), std::string("→700→900"));
    QVERIFY(check_name("debug→900"));
  }
};

HEDDLE_TEST(RunsTest)
#include "runs_test.moc"
