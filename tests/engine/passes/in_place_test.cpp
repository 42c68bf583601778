// Which result takes an argument's place, in small graphs: the last node's result is checked.
#include <QTest>

#include "engine/graph/text.h"
#include "engine/passes/memory.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

constexpr int kNowhere = -1;

int64_t no_scratch(const graph::Graph&, const graph::Node&) { return 0; }

}  // namespace

class InPlaceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_result_takes_the_place_of_an_argument_that_ends_with_it_data() {
    QTest::addColumn<QString>("nodes");
    QTest::addColumn<int>("result");
    QTest::addColumn<int>("place_of");
    const QString products = "%1: f32[8, 8] = aten.mm(%0, %0)\n%2: f32[8, 8] = aten.mm(%0, %0)\n";
    QTest::newRow("the first") << products + "%3: f32[8, 8] = aten.add.Tensor(%1, %2)\n" << 3 << 1;
    QTest::newRow("the second, as the first is an input")
        << products + "%3: f32[8, 8] = aten.add.Tensor(%0, %2)\n"
        << 3 << 2;
    QTest::newRow("the second, as the first is read again")
        << products + "%3: f32[8, 8] = aten.add.Tensor(%1, %2)\n%4: f32[8, 8] = aten.mm(%3, %1)\n"
        << 3 << 2;
    QTest::newRow("both are one") << products + "%3: f32[8, 8] = aten.add.Tensor(%2, %2)\n"
                                  << 3 << 2;
    QTest::newRow("one is transposed as well")
        << products + "%3: f32[8, 8] = aten.t(%1)\n" + "%4: f32[8, 8] = aten.add.Tensor(%1, %3)\n"
        << 4 << kNowhere;
    QTest::newRow("a row of it is read for all rows")
        << products + "%3: f32[1, 8] = aten.slice.Tensor(%1, dim=0, start=0, end=1, step=1)\n" +
               "%4: f32[8, 8] = aten.add.Tensor(%1, %3)\n"
        << 4 << kNowhere;
    QTest::newRow("a product reads all of its arguments for each element")
        << products + "%3: f32[8, 8] = aten.mm(%1, %2)\n"
        << 3 << kNowhere;
  }
  void a_result_takes_the_place_of_an_argument_that_ends_with_it() {
    QFETCH(QString, nodes);
    QFETCH(int, result);
    QFETCH(int, place_of);
    const QString text = "heddle graph 1\nmicro_batches = 1\ninput %0: f32[8, 8] x\nforward\n" +
                         nodes + "output %" + QString::number(result) + ": f32[8, 8] last\nend\n";
    const auto graph = graph::parse_text(text.toStdString(), "in place");
    QVERIFY2(graph.has_value(), graph ? "" : graph.error().message.c_str());
    const passes::MemoryPlan plan = passes::plan_memory(*graph, no_scratch);
    QVERIFY(plan.place[result] >= 0);
    int found = kNowhere;
    for (const graph::Node& node : graph->nodes)
      if (node.outputs.front() == result)
        graph::for_each_use(node, [&](const graph::Use& use) {
          const graph::ValueId argument = plan.root[use.value];
          if (plan.place[argument] == plan.place[result]) found = argument;
        });
    QCOMPARE(found, place_of);
  }

  // Both gradients take the place of what the product's factors were: dout goes as it came.
  void each_result_takes_another_place() {
    const auto graph = graph::parse_text(
        "heddle graph 1\nmicro_batches = 1\ninput %0: f32[8, 8] x\nforward\n"
        "%1: f32[8, 8] = aten.mm(%0, %0)\n"
        "%2: f32[8, 8] = aten.mm(%0, %0)\n"
        "%3: f32[8, 8] = aten.mm(%0, %0)\n"
        "%4: f32[8, 8], %5: f32[8, 8] = heddle.swiglu_backward(%3, %1, %2)\n"
        "%6: f32[8, 8] = aten.mm(%4, %5)\n"
        "output %6: f32[8, 8] product\nend\n",
        "in place");
    QVERIFY2(graph.has_value(), graph ? "" : graph.error().message.c_str());
    const passes::MemoryPlan plan = passes::plan_memory(*graph, no_scratch);
    QCOMPARE(plan.place[4], plan.place[1]);
    QCOMPARE(plan.place[5], plan.place[2]);
    QCOMPARE(plan.live_bytes, 3 * 8 * 8 * 4);
    QCOMPARE(plan.place[6], plan.place[3]);  // free again
  }
};

HEDDLE_TEST(InPlaceTest)
#include "in_place_test.moc"
