// SQL for people: the views, the examples of docs/sql.md, and what no statement can do.
#include "storage/sql.h"

#include <QtTest>

#include "tests/storage/store_fixture.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
using heddle::test::read_text;

namespace {

struct SqlAnswer {
  std::vector<std::string> columns;
  std::vector<SqlRow> rows;
};

Result<SqlAnswer> ask(const std::string& store, const std::string& statement) {
  SqlAnswer answer;
  SqlOutput output;
  output.columns = [&](const std::vector<std::string>& names) { answer.columns = names; };
  output.row = [&](SqlRow row) { answer.rows.push_back(std::move(row)); };
  const Result<> done = run_sql(store, statement, output);
  if (!done) return fail(done);
  return answer;
}

/// The only value.
SqlValue one(const std::string& store, const std::string& statement) {
  const SqlAnswer answer = must(ask(store, statement));
  if (answer.rows.size() != 1 || answer.rows[0].size() != 1) qFatal("not one value");
  return answer.rows[0][0];
}

}  // namespace

class SqlTest : public QObject {
  Q_OBJECT

  StoreFixture store_;
  RunId run_ = 0;

 private Q_SLOTS:
  void initTestCase() {
    run_ = store_.create("debug");
    must(store_.writer->change_tags(run_, {"fp8", "night"}));
    must(store_.writer->set_group(run_, "seeds"));
    store_.feed(run_, log_of(whole_run(700)));
    must(store_.writer->set_state(run_, RunState::done));
    store_.feed(store_.create("other"), log_of(whole_run(30)));
  }

  void runs_facts_and_metrics_are_as_pages_have_them() {
    const SqlAnswer runs =
        must(ask(store_.path, "SELECT name, steps, loss, group_name FROM runs ORDER BY id"));
    QCOMPARE(runs.columns, (std::vector<std::string>{"name", "steps", "loss", "group_name"}));
    QCOMPARE(runs.rows.size(), size_t{2});
    QCOMPARE(runs.rows[0], (SqlRow{"debug", int64_t{700}, 1000.0 / 700, "seeds"}));
    QCOMPARE(one(store_.path, "SELECT min FROM metrics WHERE metric = 'loss' AND run = 1"),
             SqlValue(1000.0 / 700));
    QCOMPARE(
        one(store_.path, "SELECT value FROM facts WHERE run = 1 AND key = 'recipe.optimizer.lr'"),
        SqlValue("0.0003"));
    QCOMPARE(one(store_.path, "SELECT name FROM runs, json_each(tags) t WHERE t.value = 'fp8'"),
             SqlValue("debug"));
  }

  void steps_are_those_of_the_chart() {
    const auto samples = must(store_.reader.samples(run_, "loss", 0));
    const SqlAnswer steps =
        must(ask(store_.path,
                 "SELECT step, value FROM steps WHERE run = 1 AND metric = 'loss' ORDER BY step"));
    QCOMPARE(steps.rows.size(), samples.size());
    for (size_t i = 0; i < samples.size(); ++i)
      QCOMPARE(steps.rows[i], (SqlRow{samples[i].step, samples[i].value}));
    QCOMPARE(one(store_.path, "SELECT count(*) FROM steps WHERE metric <> 'time'"),
             SqlValue(int64_t{2 * 730}));
    QCOMPARE(one(store_.path,
                 "SELECT sum(step) FROM steps WHERE run = 1 AND metric = 'loss' AND step BETWEEN "
                 "300 AND 302 AND step < 302.5 AND rank = 0"),
             SqlValue(int64_t{903}));
    QCOMPARE(
        one(store_.path, "SELECT value FROM steps WHERE run = 1 AND metric = 'time' AND step = 11"),
        SqlValue(10.0));
    QCOMPARE(one(store_.path,
                 "SELECT count(*) FROM steps AS a JOIN steps AS b ON b.run = a.run AND b.step = "
                 "a.step WHERE a.metric = 'loss' AND b.metric = 'time'"),
             SqlValue(int64_t{730}));
  }

  void spans_are_those_of_the_timeline() {
    QCOMPARE(one(store_.path, "SELECT count(*) FROM spans"), SqlValue(int64_t{3 * 73}));
    QCOMPARE(one(store_.path,
                 "SELECT sum(duration_us) FROM spans WHERE run = 1 AND step = 20 AND stream = "
                 "'compute'"),
             SqlValue(int64_t{300}));
  }

  void the_examples_of_the_documentation_run() {
    const std::string text = read_text(HEDDLE_SOURCE_DIR "/docs/sql.md");
    int examples = 0;
    for (size_t at = text.find("```sql\n"); at != std::string::npos;
         at = text.find("```sql\n", at)) {
      at += 7;
      const std::string statement = text.substr(at, text.find("```", at) - at);
      const auto answer = ask(store_.path, statement);
      QVERIFY2(answer, answer ? "" : (statement + answer.error().message).c_str());
      // Two look for what these runs do not have: last week, and how long a step took.
      const bool finds_nothing = statement.find("step_seconds") != std::string::npos;
      QVERIFY2(!answer->rows.empty() || finds_nothing, statement.c_str());
      ++examples;
    }
    QCOMPARE(examples, 6);
  }

  void nothing_is_written_whatever_is_asked_data() {
    QTest::addColumn<QString>("statement");
    for (const char* statement :
         {"DELETE FROM runs", "DROP TABLE main.runs", "UPDATE main.runs SET name = 'x'",
          "INSERT INTO main.requests (run, verb) VALUES (1, 'stop')", "CREATE TABLE t (x)",
          "CREATE TEMP TABLE t (x)", "ATTACH '/tmp/other.sqlite' AS o", "VACUUM INTO '/tmp/copy'",
          "PRAGMA query_only = OFF", "PRAGMA user_version = 9", "BEGIN", "REINDEX", "ANALYZE",
          "WITH x AS (SELECT 1) DELETE FROM main.runs", "SELECT load_extension('x')",
          "DROP VIEW runs", "PRAGMA writable_schema = ON", "EXPLAIN DELETE FROM main.runs"})
      QTest::newRow(statement) << statement;
  }
  void nothing_is_written_whatever_is_asked() {
    QFETCH(QString, statement);
    VERIFY_SAYS(ask(store_.path, statement.toStdString()), "only a SELECT can be run");
    QCOMPARE(must(store_.reader.runs()).size(), size_t{2});
  }

  void a_mistake_is_shown_with_its_place() {
    VERIFY_SAYS(ask(store_.path, "SELECT nme FROM runs"), "SQL, character 8: no such column: nme");
    VERIFY_SAYS(ask(store_.path, "SELECT * FROM run"), "no such table: run");
    VERIFY_SAYS(ask(store_.path, "SELECT 1; SELECT 2"), "several statements");
    VERIFY_SAYS(ask(store_.path, " ; "), "there is no statement");
    VERIFY_SAYS(ask(store_.path, ""), "there is no statement");
    VERIFY_SAYS(ask(store_.path, "SELECT \"debug\""), "no such column");
    QCOMPARE(one(store_.path, "SELECT 1; "), SqlValue(int64_t{1}));
  }

  void a_statement_without_end_can_be_stopped() {
    int asked = 0;
    SqlOutput output;
    output.columns = [](const auto&) {};
    output.row = [](SqlRow) {};
    output.is_stopped = [&] { return ++asked > 3; };
    const auto stopped = run_sql(store_.path,
                                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                 "SELECT count(*) FROM n",
                                 output);
    VERIFY_SAYS(stopped, "SQL: it was stopped");
  }
};

HEDDLE_TEST(SqlTest)
#include "sql_test.moc"
