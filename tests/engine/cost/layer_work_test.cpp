// Kernels and bytes of a layer: counted by hand on a small graph, and of the 8B on GPUs within
// their budgets.
#include "engine/cost/layer_work.h"

#include <QTest>

#include "engine/graph/text.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// The bytes moved, against the least that fusing could leave.
constexpr double kMaxBytes = 1.1;

graph::Graph parsed_layer(const std::string& body) {
  const auto graph =
      graph::parse_text("heddle graph 1\nmicro_batches = 1\n" + body + "end\n", "test");
  if (!graph) qFatal("%s", graph.error().message.c_str());
  return *graph;
}

}  // namespace

class LayerWorkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Two SiLUs of 32 bytes in a row could be one that reads and writes 32 each; the product after
  // them reads 32 and 16 and writes 32, and so it does in both layers.
  void what_could_be_one_kernel_is_counted_as_one() {
    const graph::Graph graph = parsed_layer(
        "state %0: f32[2, 2] w\ninput %1: f32[4, 2] x\nforward\n"
        "  %2: f32[4, 2] = aten.silu(%1)  @layers.0\n"
        "  %3: f32[4, 2] = aten.silu(%2)  @layers.0.feed_forward\n"
        "  %4: f32[4, 2] = aten.mm(%3, %0)  @layers.0.feed_forward.w2\n"
        "  %5: f32[4, 2] = aten.silu(%4)  @layers.1\n"
        "  %6: f32[4, 2] = aten.silu(%5)  @layers.1\n"
        "  %7: f32[4, 2] = aten.mm(%6, %0)  @layers.1.feed_forward.w2\n"
        "  %8: f32[4, 2] = aten.silu(%7)  @output\n"
        "output %8: f32[4, 2] y\n");
    const auto work = cost::layer_work(graph);
    QVERIFY(work);
    QCOMPARE(work->kernels, 3.0);
    QCOMPARE(work->bytes, 2.0 * 64 + 80);
    QCOMPARE(work->least_bytes, 64.0 + 80);
  }

  // Values that another phase or the host reads are written, too.
  void results_that_others_read_are_written() {
    const graph::Graph graph = parsed_layer(
        "input %0: f32[4, 2] x\nforward\n"
        "  %1: f32[4, 2] = aten.silu(%0)  @layers.0\n"
        "  %2: f32[4, 2] = aten.silu(%1)  @layers.0\n"
        "backward\n"
        "  %3: f32[4, 2] = aten.silu_backward(%2, %1)  @layers.0\n"
        "output %3: f32[4, 2] dx\n");
    const auto work = cost::layer_work(graph);
    QVERIFY(work);
    QCOMPARE(work->kernels, 3.0);
    QCOMPARE(work->bytes, 64.0 + 64 + 96);
    QCOMPARE(work->least_bytes, 96.0 + 96);
  }

  void a_graph_without_layers_is_told_so() {
    const auto work = cost::layer_work(
        parsed_layer("input %0: f32[4, 2] x\nforward\n  %1: f32[4, 2] = aten.silu(%0)  @output\n"
                     "output %1: f32[4, 2] y\n"));
    QVERIFY(!work);
    QVERIFY(work.error().message.find("layers.N") != std::string::npos);
  }

  // Without recomputation at most 50 kernels; what is computed again comes on top.
  void a_layer_of_the_8b_is_within_its_budgets_data() {
    QTest::addColumn<QString>("recompute");
    QTest::addColumn<double>("kernels");
    QTest::newRow("none") << "none" << 50.0;
    QTest::newRow("selective") << "selective" << 60.0;
    QTest::newRow("full") << "full" << 65.0;
  }
  void a_layer_of_the_8b_is_within_its_budgets() {
    QFETCH(QString, recompute);
    QFETCH(double, kernels);
    const recipe::Parsed parsed = recipe::resolve(recipe::parse_file(
        HEDDLE_SOURCE_DIR "/resources/recipes/llama3-8b-8xh100.toml",
        {"model.vocab_size=128256", "recompute.mode=\"" + recompute.toStdString() + "\""}));
    QVERIFY(parsed.ok());
    const auto planned =
        predict::capture_and_plan(parsed.recipe, 0, predict::rates_here(parsed.recipe));
    QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
    const auto work = cost::layer_work(planned->plan.graph);
    QVERIFY(work);
    qInfo("%.1f kernels a layer; %.3f times the least bytes", work->kernels,
          work->bytes / work->least_bytes);
    QVERIFY(work->kernels <= kernels);
    QVERIFY(work->bytes <= kMaxBytes * work->least_bytes);
  }
};

HEDDLE_TEST(LayerWorkTest)
#include "layer_work_test.moc"
