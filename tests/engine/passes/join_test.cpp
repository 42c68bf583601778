// Where the parts of a join are, in small graphs, and that a part elsewhere is found.
#include <QTest>
#include <functional>

#include "engine/graph/text.h"
#include "engine/passes/memory.h"
#include "engine/passes/verify.h"
#include "tests/support/test_class.h"

using namespace heddle;
using passes::MemoryPlan;

namespace {

constexpr int64_t kPart = 4 * 4 * 4;  // bytes of a matrix of 4 × 4

graph::Graph parsed(const std::string& nodes) {
  auto graph = graph::parse_text(
      "heddle graph 1\nmicro_batches = 1\ninput %0: f32[4, 4] x\nforward\n" + nodes + "end\n",
      "join");
  if (!graph) qFatal("%s", graph.error().message.c_str());
  return std::move(*graph);
}

int64_t scratch_of_negatives(const graph::Graph&, const graph::Node& node) {
  return node.op == "aten.neg" ? 64 : 0;
}

// %1 and %3 are joined, %2 is made and read between them.
graph::Graph joined() {
  return parsed(
      "  %1: f32[4, 4] = aten.silu(%0)\n"
      "  %2: f32[4, 4] = aten.neg(%1)\n"
      "  %3: f32[4, 4] = aten.neg(%2)\n"
      "  %4: f32[8, 4] = heddle.join([%1, %3])\n"
      "  %5: f32[8, 4] = aten.silu(%4)\n"
      "output %5: f32[8, 4] y\n");
}

struct Mutation {
  const char* name;
  const char* rule;
  std::function<void(graph::Graph&, MemoryPlan&)> make;
};

const std::vector<Mutation> kMutations = {
    {"a part after its place",
     "4: ", [](graph::Graph&, MemoryPlan& memory) { memory.place[3] += 64; }},
    {"parts the other way round",
     "4: ", [](graph::Graph&, MemoryPlan& memory) { std::swap(memory.place[1], memory.place[3]); }},
    {"a part with memory of its own",
     "4: ", [](graph::Graph&, MemoryPlan& memory) { memory.root[3] = 3; }},
    {"another value over a part that is there",
     "4: ", [](graph::Graph&, MemoryPlan& memory) { memory.place[2] = memory.place[1]; }},
    {"scratch over a part that is there",
     "4: ", [](graph::Graph&, MemoryPlan& memory) { memory.scratch_place[2] = memory.place[1]; }},
    {"scratch over a part that is joined", "4: ",
     [](graph::Graph&, MemoryPlan& memory) {
       memory.scratch_bytes[4] = 64;
       memory.scratch_place[4] = memory.place[3];
     }},
    {"a part is written to after the join", "3: ",
     [](graph::Graph& graph, MemoryPlan& memory) {
       graph::Node zero;
       zero.op = "aten.zero_";
       zero.args = {graph::Use{1, graph.add_value(graph.values[1].sizes, c10::kFloat)}};
       graph.nodes.insert(graph.nodes.begin() + 4, zero);
       memory = {};
     }},
    {"the whole is written to, and a part is read", "3: ",
     [](graph::Graph& graph, MemoryPlan& memory) {
       graph::Node zero, negative;
       zero.op = "aten.zero_";
       zero.args = {graph::Use{4, graph.add_value(graph.values[4].sizes, c10::kFloat)}};
       negative.op = "aten.neg";
       negative.args = {graph::Use{1, graph::kNoValue}};
       negative.outputs = {graph.add_value(graph.values[1].sizes, c10::kFloat)};
       graph.nodes.push_back(zero);
       graph.nodes.push_back(negative);
       memory = {};
     }},
};

}  // namespace

class JoinTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parts_are_made_where_they_belong() {
    const graph::Graph graph = joined();
    const MemoryPlan plan = passes::plan_memory(graph, scratch_of_negatives);
    QCOMPARE(plan.root[1], 4);
    QCOMPARE(plan.root[3], 4);
    QCOMPARE(plan.place[1], plan.place[4]);
    QCOMPARE(plan.place[3], plan.place[4] + kPart);
    QCOMPARE(plan.from[4], 0);
    // The whole, what is between its parts, scratch of that, and at the end the result.
    QCOMPARE(plan.live_bytes, 2 * kPart + 2 * kPart);
    const auto kept = passes::verify(graph, plan);
    QVERIFY2(kept, kept ? "" : kept.error().message.c_str());
  }

  void a_whole_may_be_a_part() {
    const graph::Graph graph = parsed(
        "  %1: f32[4, 4] = aten.silu(%0)\n"
        "  %2: f32[4, 4] = aten.neg(%0)\n"
        "  %3: f32[4, 4] = aten.silu(%2)\n"
        "  %4: f32[8, 4] = heddle.join([%2, %3])\n"
        "  %5: f32[12, 4] = heddle.join([%1, %4])\n"
        "  %6: f32[8, 4] = heddle.join([%2, %3])\n"
        "  %7: f32[8, 4] = aten.silu(%6)\n"
        "output %5: f32[12, 4] y\n"
        "output %7: f32[8, 4] z\n");
    const MemoryPlan plan = passes::plan_memory(graph, scratch_of_negatives);
    QCOMPARE(plan.place[1], plan.place[5]);
    QCOMPARE(plan.place[2], plan.place[5] + kPart);
    QCOMPARE(plan.place[3], plan.place[5] + 2 * kPart);
    QCOMPARE(plan.place[4], plan.place[2]);
    QCOMPARE(plan.place[6], plan.place[2]);
    for (const graph::ValueId part : {1, 2, 3, 4, 6}) QCOMPARE(plan.root[part], 5);
    const auto kept = passes::verify(graph, plan);
    QVERIFY2(kept, kept ? "" : kept.error().message.c_str());
  }

  void a_fault_is_seen_data() {
    QTest::addColumn<int>("mutation");
    for (size_t i = 0; i < kMutations.size(); ++i)
      QTest::addRow("%s", kMutations[i].name) << static_cast<int>(i);
  }
  void a_fault_is_seen() {
    QFETCH(int, mutation);
    graph::Graph graph = joined();
    MemoryPlan plan = passes::plan_memory(graph, scratch_of_negatives);
    const Mutation& what = kMutations[static_cast<size_t>(mutation)];
    what.make(graph, plan);
    const auto kept = passes::verify(graph, plan);
    QVERIFY(!kept);
    QVERIFY2(QString::fromStdString(kept.error().message).startsWith(what.rule),
             kept.error().message.c_str());
  }
};

HEDDLE_TEST(JoinTest)
#include "join_test.moc"
