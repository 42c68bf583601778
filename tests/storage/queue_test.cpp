// Runs that wait for their target, and the rungs of sweeps that are halved.
#include "storage/queue.h"

#include <QTest>

#include "storage/queries.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

class QueueTest : public QObject {
  Q_OBJECT

 private:
  static NewRun waiting(const std::string& name, const std::string& group = "") {
    NewRun run;
    run.name = name;
    run.target = "loom";
    run.recipe_name = "debug";
    run.group = group;
    run.waiting = Waiting{.at_once = 2, .mode = "eager"};
    return run;
  }
  static QStringList names(Reader& reader) {
    QStringList all;
    for (const QueuedRun& run : must(reader.queue())) all << QString::fromStdString(run.name);
    return all;
  }

 private Q_SLOTS:
  void runs_wait_in_the_order_in_which_they_came() {
    StoreFixture store;
    const auto made =
        must(store.writer->create_runs({waiting("a"), waiting("b"), waiting("c")}).get());
    QCOMPARE(names(store.reader), (QStringList{"a", "b", "c"}));
    const QueuedRun first = must(store.reader.queue())[0];
    QCOMPARE(first.target, std::string("loom"));
    QCOMPARE(first.waiting.at_once, int64_t(2));
    QCOMPARE(first.waiting.mode, std::string("eager"));
    QVERIFY(must(store.reader.run(made[0].id)).summary.state == RunState::queued);
    QCOMPARE(must(store.reader.unfinished_runs()).size(), size_t(3));

    must(store.writer->reorder_queue({made[2].id, made[0].id}).get());
    QCOMPARE(names(store.reader), (QStringList{"c", "a", "b"}));
    must(store.writer->create_runs({waiting("d")}).get());
    QCOMPARE(names(store.reader), (QStringList{"c", "a", "b", "d"}));
  }

  void a_run_that_begins_or_ends_leaves_the_queue() {
    StoreFixture store;
    const auto made = must(
        store.writer->create_runs({waiting("begins"), waiting("out"), waiting("fails")}).get());
    const int64_t cursor = must(store.reader.runs_changed_since(0)).cursor;
    must(store.writer->begin_queued(made[0].id, "[]", "/runs/begins").get());
    QVERIFY(must(store.reader.run(made[0].id)).summary.state == RunState::preparing);
    must(store.writer->take_out(made[1].id).get());
    const RunSummary out = must(store.reader.run(made[1].id)).summary;
    QVERIFY(out.state == RunState::stopped);
    QCOMPARE(out.cause, std::string("taken out of the queue"));
    must(store.writer->set_state(made[2].id, RunState::failed, "no room").get());
    QVERIFY(names(store.reader).isEmpty());
    QCOMPARE(must(store.reader.runs_changed_since(cursor)).changed.size(), size_t(3));

    // A run that does not wait can neither begin nor be taken out.
    QVERIFY(!store.writer->begin_queued(made[1].id, "[]", "/runs/out").get());
    const auto again = store.writer->take_out(made[0].id).get();
    QVERIFY(!again);
    QCOMPARE(again.error().message, std::string("begins is not in the queue: it is preparing"));
  }

  void trouble_leaves_a_run_where_it_waits() {
    StoreFixture store;
    const auto made = must(store.writer->create_runs({waiting("a"), waiting("b")}).get());
    must(store.writer->set_state(made[0].id, RunState::queued, "loom does not answer").get());
    QCOMPARE(must(store.reader.queue())[0].trouble, std::string("loom does not answer"));
    QVERIFY(must(store.reader.run(made[0].id)).summary.state == RunState::queued);
  }

  void a_removed_run_waits_no_more() {
    StoreFixture store;
    const auto made = must(store.writer->create_runs({waiting("a"), waiting("b")}).get());
    must(store.writer->remove(made[0].id).get());
    QCOMPARE(names(store.reader), QStringList{"b"});
  }

  void all_runs_of_a_sweep_are_made_or_none() {
    StoreFixture store;
    NewRun bad = waiting("good");
    bad.name = "-bad";
    QVERIFY(!store.writer->create_runs({waiting("good", "sweep"), bad}).get());
    QVERIFY(must(store.reader.runs()).empty());
    QVERIFY(names(store.reader).isEmpty());
  }

  void a_group_keeps_the_rungs_that_it_was_made_with() {
    StoreFixture store;
    const Halving halving{"loss", {{10, 2}, {20, 1}}};
    must(store.writer->create_runs({waiting("a", "sweep"), waiting("b", "sweep")}, halving).get());
    QVERIFY(must(store.reader.halvings()) == (Halvings{{"sweep", halving}}));
    QCOMPARE(must(store.reader.runs_of_group("sweep")).size(), size_t(2));
    QVERIFY(must(store.reader.runs_of_group("")).empty());
    // The next of that name has none.
    must(store.writer->create_runs({waiting("c", "sweep")}).get());
    QVERIFY(must(store.reader.halvings()).empty());
  }
};

HEDDLE_TEST(QueueTest)
#include "queue_test.moc"
