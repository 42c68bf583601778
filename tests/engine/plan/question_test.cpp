// The wire of `plan --serve`: every question and answer comes back as it was sent, a line that
// leaves something out has the defaults, and a line that is no question says why.
#include "engine/plan/question.h"

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::plan;

namespace {

PlanQuestion full_plan() {
  PlanQuestion question;
  question.text = "[model]\npreset = \"llama3-debug\"\n";
  question.file = "/home/ada/debug.toml";
  question.sets = {"hardware.ranks=8", "training.steps=1"};
  question.ranks = 16;
  question.hardware = "h100-sxm";
  question.executor = "eager";
  question.numbers = {{"mfu", 0.5}};
  question.timeline = true;
  question.closes = false;
  return question;
}

SearchQuestion full_search() {
  SearchQuestion question;
  static_cast<Subject&>(question) = full_plan();
  question.memory_limit = int64_t{60} << 30;
  question.fixes = {"parallelism.tp=2"};
  question.counts = {8, 16};
  question.tokens = 1e12;
  return question;
}

std::string refusal(std::string_view line) {
  const auto read = read_question(line);
  return read ? "" : std::get<Error>(read.error().reply).message;
}

/// The answer, written and read.
Answer sent(const Answer& answer) { return read_answer(line_of(answer)); }

}  // namespace

class QuestionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void questions_come_back() {
    PlanQuestion plain;
    plain.text = "\xff is no UTF-8, a quote is \"";
    const std::vector<Asked> all{
        {1, "compose", full_plan()}, {2, {}, full_search()}, {3, {}, CatalogueQuestion{}},
        {4, {}, Cancel{2}},          {{}, {}, full_plan()},  {uint64_t{1} << 63, "a", full_plan()}};
    for (const Asked& asked : all) {
      const std::string line = line_of(asked);
      QVERIFY(line.find('\n') == std::string::npos);
      const auto read = read_question(line);
      QVERIFY2(read, refusal(line).c_str());
      QVERIFY2(*read == asked, line.c_str());
    }
    QVERIFY(read_question(line_of({5, {}, plain})));
  }

  void a_short_line_has_the_defaults() {
    PlanQuestion plain;
    plain.text = "a";
    QCOMPARE(line_of({1, {}, plain}), std::string(R"({"id":1,"recipe":"a"})"));
    QVERIFY(std::get<PlanQuestion>(read_question(R"({"recipe": "a"})")->question) == plain);
    SearchQuestion search;
    search.text = "a";
    QCOMPARE(line_of({1, {}, search}), std::string(R"({"id":1,"search":true,"recipe":"a"})"));
    QVERIFY(std::get<SearchQuestion>(
                read_question(R"({"search": true, "recipe": "a"})")->question) == search);
  }

  void bad_lines_say_what_is_wrong_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const char* line, const char* says) {
      QTest::newRow(name) << QByteArray(line) << QByteArray(says);
    };
    row("no JSON", "no json at all \xff", "no question of this version: ");
    row("a list", "[1, 2]", "a question is an object");
    row("no recipe", R"({"id": 3})", "recipe: missing");
    row("unknown key", R"({"id": 3, "recipe": "a", "receipt": "a"})",
        "receipt: unknown key; valid: id | key | recipe | file | sets");
    row("a search's key", R"({"recipe": "a", "fixes": []})", "fixes: unknown key; valid: ");
    row("a plan's key", R"({"search": true, "recipe": "a", "timeline": true})",
        "timeline: unknown key; valid: id | search | recipe");
    row("type", R"({"recipe": 7})", "recipe: type must be string, but is number");
    row("cut", R"({"recipe": "a", "ranks": 1.5})", "ranks: 1.5 is no whole number from ");
    row("huge", R"({"recipe": "a", "ranks": 1e30})", "ranks: ");
    row("no ranks", R"({"search": true, "recipe": "a", "counts": [0]})",
        "counts are numbers of ranks, 1 or more");
    row("id", R"({"id": "one", "recipe": "a"})", "string is no whole number");
  }
  void bad_lines_say_what_is_wrong() {
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, says);
    const std::string said = refusal(line.toStdString());
    QVERIFY2(said.find(says.toStdString()) != std::string::npos, said.c_str());
  }

  void a_refusal_has_the_question_s_id() {
    QCOMPARE(read_question(R"({"id": 3, "receipt": "a"})").error().id, std::optional<uint64_t>(3));
    QVERIFY(!read_question("[").error().id);
  }

  void answers_come_back() {
    Document document;
    document.recipe = "debug.toml";
    document.step_seconds = 0.5;
    telemetry::Span span;
    span.name = "mm";
    document.timelines.resize(1);
    document.timelines[0].spans = {span};
    const Answer plan = sent({.id = 1, .progress = {}, .reply = document});
    QCOMPARE(plan.id, std::optional<uint64_t>(1));
    const auto& read = std::get<Document>(plan.reply);
    QCOMPARE(read.recipe, document.recipe);
    QCOMPARE(read.timelines.at(0).spans.at(0).name, std::string("mm"));

    const std::vector<Fault> faults{{4, 5, "parallelism.tp", "does not divide", "1 | 2"}};
    QCOMPARE(std::get<std::vector<Fault>>(sent({.id = 2, .progress = {}, .reply = faults}).reply),
             faults);
    const std::vector<HardwareEntry> entries{{"h100-sxm", "H100 SXM 80 GB"}};
    QCOMPARE(std::get<std::vector<HardwareEntry>>(
                 sent({.id = 3, .progress = {}, .reply = entries}).reply),
             entries);
    SearchResult found;
    found.ranks = 8;
    const Answer halfway = sent({.id = 4, .progress = 0.5, .reply = found});
    QCOMPARE(std::get<SearchResult>(halfway.reply), found);
    QCOMPARE(halfway.progress, std::optional(0.5));
    RankCounts counts;
    counts.counts = {{.ranks = 8}};
    const Answer last = sent({.id = 5, .progress = {}, .reply = counts});
    QCOMPARE(std::get<RankCounts>(last.reply), counts);
    QVERIFY(!last.progress);
    QVERIFY(std::holds_alternative<Cancelled>(
        sent({.id = 6, .progress = {}, .reply = Cancelled{}}).reply));
    QCOMPARE(std::get<Error>(sent({.id = 7, .progress = {}, .reply = Error{"no"}}).reply).message,
             std::string("no"));
  }

  void an_unreadable_answer_keeps_its_id() {
    const Answer cut = read_answer(R"({"id": 7, "plan": [)");
    QCOMPARE(cut.id, std::optional<uint64_t>(7));
    QVERIFY(std::get<Error>(cut.reply).message.starts_with("an answer that cannot be read: "));
    QCOMPARE(std::get<Error>(read_answer(R"({"id": 8})").reply).message,
             std::string("an answer that says nothing"));
    QVERIFY(!answer_id("nonsense"));
    QVERIFY(!answer_id(R"({"id": null, "error": "no"})"));
  }
};

HEDDLE_TEST(QuestionTest)
#include "question_test.moc"
