// The critical path of steps written as text, where the answer is known by hand.
#include "workbench/critical_path.h"

#include <algorithm>
#include <sstream>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

/// "rank stream start length name node", a line a span; streams: c compute, t transfer, w wait.
std::vector<std::vector<telemetry::Span>> step_from(const char* text) {
  std::vector<std::vector<telemetry::Span>> ranks;
  std::istringstream lines(text);
  size_t rank = 0;
  char stream = 0;
  telemetry::Span span;
  while (lines >> rank >> stream >> span.start_us >> span.duration_us >> span.name >> span.node) {
    span.stream = stream == 'c'   ? telemetry::kCompute
                  : stream == 't' ? telemetry::kTransfer
                                  : telemetry::kWait;
    ranks.resize(std::max(ranks.size(), rank + 1));
    ranks[rank].push_back(span);
  }
  return ranks;
}

CriticalPath path_of(const char* text, const StepPlan* plan = nullptr) {
  const auto ranks = step_from(text);
  std::vector<RankStep> steps;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    steps.push_back({static_cast<int64_t>(rank), &ranks[rank]});
  return critical_path(steps, plan);
}

std::string words(const CriticalPath& path, const char* text) {
  const auto ranks = step_from(text);
  std::string all;
  for (const PathPart& part : path.parts)
    all += (all.empty() ? "" : ", ") + std::to_string(part.step) + " " +
           (part.span < 0 ? "-" : ranks[part.step][static_cast<size_t>(part.span)].name) + " " +
           std::to_string(part.end - part.begin);
  return all;
}

const Hurdle* hurdle(const CriticalPath& path, const std::string& name) {
  const auto found = std::ranges::find(path.hurdles, name, &Hurdle::name);
  return found == path.hurdles.end() ? nullptr : &*found;
}

constexpr const char* kOneRank =
    "0 c 0  10 a -1\n"
    "0 t 0  25 g -1\n"
    "0 c 25 5  b -1\n";

constexpr const char* kStraggler =
    "0 c 0  10 x -1\n"
    "0 w 10 20 r -1\n"
    "0 t 30 10 r -1\n"
    "0 c 40 5  z -1\n"
    "1 c 0  30 y -1\n"
    "1 t 30 10 r -1\n"
    "1 c 40 5  z -1\n";

// A gather that compute hides, which only the plan knows compute needs.
constexpr const char* kHidden =
    "0 t 0  15 g 0\n"
    "0 c 0  20 a 1\n"
    "0 c 20 10 b 3\n";

}  // namespace

class CriticalPathTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void compute_that_waited_hangs_on_the_transfer() {
    const CriticalPath path = path_of(kOneRank);
    QCOMPARE(path.length_us, int64_t{30});
    QCOMPARE(words(path, kOneRank), std::string("0 g 25, 0 b 5"));
    const Hurdle* gather = hurdle(path, "g");
    QVERIFY(gather);
    QCOMPARE(gather->on_path_us, int64_t{25});
    QCOMPARE(gather->faster_us, int64_t{15});  // then a is as long
    QCOMPARE(gather->next, std::string("a"));
    QCOMPARE(gather->at_most_us, int64_t{15});
    QCOMPARE(hurdle(path, "b")->faster_us, int64_t{5});
    QCOMPARE(hurdle(path, "b")->next, std::string());
    QVERIFY(!hurdle(path, "a"));
  }

  void a_collective_hangs_on_its_straggler() {
    const CriticalPath path = path_of(kStraggler);
    QCOMPARE(path.length_us, int64_t{45});
    QVERIFY2(words(path, kStraggler).starts_with("1 y 30, "), words(path, kStraggler).c_str());
    QCOMPARE(hurdle(path, "y")->faster_us, int64_t{20});
    QCOMPARE(hurdle(path, "y")->next, std::string("x"));
    QCOMPARE(hurdle(path, "r")->at_most_us, int64_t{10});
    QCOMPARE(hurdle(path, "z")->at_most_us, int64_t{5});
  }

  void clocks_that_differ_change_nothing() {
    const char* apart =
        "0 c 0    10 x -1\n0 t 30   10 r -1\n0 c 40   5  z -1\n"
        "1 c 1000 30 y -1\n1 t 1030 10 r -1\n1 c 1040 5  z -1\n";
    const CriticalPath path = path_of(apart);
    QCOMPARE(path.length_us, int64_t{45});
    QCOMPARE(hurdle(path, "y")->faster_us, int64_t{20});
    QCOMPARE(path.parts.front().begin, int64_t{1000});  // in its rank's own time
  }

  void a_hidden_gather_is_next_in_the_way() {
    plan::Document document;
    document.timelines = {{.rank = 0, .spans = {}, .memory = {}, .transfers = {{0, 2, 1, "dp"}}}};
    const StepPlan plan(document);
    const CriticalPath path = path_of(kHidden, &plan);
    QCOMPARE(words(path, kHidden), std::string("0 a 20, 0 b 10"));
    QCOMPARE(hurdle(path, "a")->faster_us, int64_t{5});
    QCOMPARE(hurdle(path, "a")->next, std::string("g over dp"));
    QCOMPARE(hurdle(path, "a")->at_most_us, int64_t{5});
    // Without the plan nothing says that b needs it.
    QCOMPARE(hurdle(path_of(kHidden), "a")->at_most_us, int64_t{20 - 5});
  }

  void time_in_which_nothing_ran_is_part_of_the_path() {
    const char* idle = "0 c 5 10 a -1\n0 c 20 10 a -1\n";
    const CriticalPath path = path_of(idle);
    QCOMPARE(words(path, idle), std::string("0 - 5, 0 a 10, 0 - 5, 0 a 10"));
    QCOMPARE(path.length_us, int64_t{30});
    QCOMPARE(hurdle(path, "a")->faster_us, int64_t{20});
  }

  void the_parts_add_up_to_the_step() {
    for (const char* text : {kOneRank, kStraggler, kHidden}) {
      const CriticalPath path = path_of(text);
      int64_t sum = 0;
      for (const PathPart& part : path.parts) sum += part.end - part.begin;
      QCOMPARE(sum, path.length_us);
    }
  }

  void spans_that_cannot_be_do_no_harm() {
    const char* odd =
        "0 c 0   -5  a 3\n0 c -50 100 b 2\n0 t 10  -20 g 9\n0 t 5   1000 g 1\n"
        "1 t -9  3   g 4\n1 c 7   7   a 0\n1 c 7   7   a 0\n";
    QVERIFY(!path_of(odd).parts.empty());
    QVERIFY(path_of("").parts.empty());
  }
};

HEDDLE_TEST(CriticalPathTest)
#include "critical_path_test.moc"
