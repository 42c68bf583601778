// A Llama's step that was written as text and read back is the step: under each kind of
// parallelism, down to the strides, which the text leaves to the operators.
#include <QTest>

#include "engine/graph/text.h"
#include "engine/passes/pipeline.h"
#include "engine/predict/planner.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;

class LlamaTextTest : public QObject {
  Q_OBJECT

 private:
  /// The row's recipe.
  static recipe::Recipe small_recipe() {
    QFETCH(QStringList, sets);
    std::vector<std::string> all;
    for (const QString& each : sets) all.push_back(each.toStdString());
    const recipe::Parsed parsed =
        recipe::resolve(recipe::parse(
            "[model]\ndim = 48\nn_layers = 2\nn_heads = 4\nn_kv_heads = 2\nffn_dim = 100\n"
            "[data]\ntext = [\"" HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt\"]\n"
            "tokenizer = \"" HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json\"\nseq_len = 32\n"
            "[hardware]\nranks = 2\n",
            "small.toml", all));
    for (const recipe::Fault& fault : parsed.faults) qFatal("%s", fault.what.c_str());
    return parsed.recipe;
  }

 private Q_SLOTS:
  void text_read_back_is_the_step_data() {
    QTest::addColumn<QStringList>("sets");
    const auto row = [](const char* name, const QStringList& sets = {}) {
      QTest::newRow(name) << sets;
    };
    row("sharded");
    row("bf16", {"precision.param=\"bf16\""});
    row("one key head", {"model.n_kv_heads=1"});
    row("masked documents", {"data.document_mask=true"});
    row("tensor parallel", {"parallelism.tp=2"});
    row("without sequence parallelism",
        {"parallelism.tp=2", "parallelism.sequence_parallel=false"});
    row("gathered keys", {"parallelism.cp=2"});
    row("a ring", {"parallelism.cp=2", "parallelism.cp_mode=\"ring\""});
    row("ulysses", {"parallelism.cp=2", "parallelism.cp_mode=\"ulysses\""});
    row("a pipeline", {"parallelism.pp=2", "training.global_batch=4"});
    row("tied embeddings", {"model.tied_embeddings=true"});
  }
  void text_read_back_is_the_step() {
    const recipe::Recipe recipe = small_recipe();
    const auto captured = step::capture_step(recipe);
    QVERIFY2(captured.has_value(), captured ? "" : captured.error().message.c_str());
    const graph::Graph& step = captured->graph;
    const auto read = graph::parse_text(graph::to_text(step), "step.graph");
    QVERIFY2(read.has_value(), read ? "" : read.error().message.c_str());

    QCOMPARE(read->nodes.size(), step.nodes.size());
    for (size_t i = 0; i < step.nodes.size(); ++i) {
      const graph::Node &was = step.nodes[i], &is = read->nodes[i];
      QCOMPARE(is.op.text(), was.op.text());
      QCOMPARE(is.outputs.size(), was.outputs.size());
      for (size_t j = 0; j < was.outputs.size(); ++j) {
        if (was.outputs[j] == graph::kNoValue) continue;
        const graph::Value &before = step.values[was.outputs[j]],
                           &after = read->values[is.outputs[j]];
        QVERIFY2(after.strides == before.strides, was.op.text().c_str());
        QVERIFY2(after.sizes == before.sizes, was.op.text().c_str());
      }
    }
  }

  void every_pass_gives_a_text_that_can_be_read_back_data() { text_read_back_is_the_step_data(); }
  void every_pass_gives_a_text_that_can_be_read_back() {
    recipe::Recipe recipe = small_recipe();
    recipe.recompute.mode = recipe::RecomputeMode::full;
    const auto captured = step::capture_step(recipe);
    QVERIFY2(captured.has_value(), captured ? "" : captured.error().message.c_str());
    for (const std::string pass : passes::kPassNames) {
      const passes::Plan plan = passes::plan(
          captured->graph,
          predict::plan_options(recipe, recipe::Layout(recipe), 0, captured->graph), pass);
      const auto read = graph::parse_text(passes::to_text(plan), pass);
      QVERIFY2(read.has_value(), read ? "" : read.error().message.c_str());
      const graph::Graph& step = plan.graph;
      QCOMPARE(read->nodes.size(), step.nodes.size());
      QVERIFY(read->groups == step.groups);
      QVERIFY(read->notes == step.notes);
      QCOMPARE(read->micro_batches, step.micro_batches);
      for (size_t i = 0; i < step.nodes.size(); ++i) {
        const graph::Node &was = step.nodes[i], &is = read->nodes[i];
        QCOMPARE(is.op.text(), was.op.text());
        QCOMPARE(is.module.text(), was.module.text());
        QCOMPARE(is.stage, was.stage);
        QCOMPARE(is.weights_only, was.weights_only);
        QCOMPARE(is.micro_batch, was.micro_batch);
        QCOMPARE(is.next_step, was.next_step);
      }
      // Numbers are names: what is printed of what was read says the same, in the same numbers.
      const std::string again = graph::to_text(*read);
      const auto second = graph::parse_text(again, pass);
      QVERIFY2(second.has_value(), second ? "" : second.error().message.c_str());
      QVERIFY(graph::to_text(*second) == again);
    }
  }
};

HEDDLE_TEST(LlamaTextTest)
#include "llama_text_test.moc"
