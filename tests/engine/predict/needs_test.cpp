// A rank's needs by formula (holdings/needs.h), against the planner's layout of memory.
#include "engine/holdings/needs.h"

#include <QTest>
#include <cmath>

#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

recipe::Recipe needy_recipe(const QStringList& sets, int64_t ranks) {
  std::vector<std::string> all = {"model.dim=512",           "model.n_layers=8",
                                  "model.n_heads=8",         "model.n_kv_heads=4",
                                  "model.ffn_dim=1536",      "model.vocab_size=4096",
                                  "data.seq_len=512",        "data.token_ids=\"a\"",
                                  "training.local_batch=2",  "wrapping.mode=\"layers\"",
                                  "checkpoint.enabled=false"};
  for (const QString& set : sets) all.push_back(set.toStdString());
  const recipe::Parsed parsed = recipe::resolve(recipe::parse("", "test", all), ranks);
  if (!parsed.ok()) qFatal("%s", parsed.faults.front().str().c_str());
  return parsed.recipe;
}

}  // namespace

class NeedsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_formula_is_close_to_the_plan_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QStringList>("sets");
    const auto add = [](const char* name, int ranks, const QStringList& sets) {
      QTest::newRow(name) << ranks << sets;
    };
    add("as it is", 2, {});
    add("one rank", 1, {});
    add("auto", 2, {"wrapping.mode=\"auto\""});
    add("each parameter by itself", 2, {"wrapping.mode=\"none\""});
    add("parameters kept", 2, {"wrapping.reshard_after_forward=false"});
    add("all computed again", 2, {"recompute.mode=\"full\""});
    add("half computed again", 2, {"recompute.mode=\"selective\""});
    add("half computed again in bf16", 2,
        {"recompute.mode=\"selective\"", "precision.param=\"bf16\""});
    add("a budget", 2, {"recompute.mode=\"budget\"", "recompute.budget=0.25"});
    add("micro-batches", 2, {"training.local_batch=1", "training.global_batch=8"});
    add("bf16", 2, {"precision.param=\"bf16\""});
    for (const char* float8 : {"tensorwise", "rowwise"})
      add(float8, 2, {"precision.param=\"bf16\"", QString("precision.float8=\"%1\"").arg(float8)});
    add("hsdp", 4, {"parallelism.dp_replicate=2"});
    add("tp", 2, {"parallelism.tp=2"});
    add("tp, inputs kept", 2, {"parallelism.tp=2", "parallelism.tp_gather_again=false"});
    add("cp", 2, {"parallelism.cp=2"});
    const QStringList pipeline = {"parallelism.pp=2", "training.local_batch=4",
                                  "parallelism.microbatches=4"};
    add("pp", 2, pipeline);
    add("gpipe", 2, pipeline + QStringList{"parallelism.pp_schedule=\"gpipe\""});
    add("zero-bubble", 2, pipeline + QStringList{"parallelism.pp_schedule=\"zero-bubble\""});
    add("zero-bubble, more held", 2,
        pipeline + QStringList{"parallelism.pp_schedule=\"zero-bubble\"",
                               "parallelism.zero_bubble_limit=3"});
    add("many words", 2, {"model.vocab_size=64000"});
    add("many words, loss in chunks", 2, {"model.vocab_size=64000", "training.loss_chunks=4"});
    add("a long sequence", 1, {"data.seq_len=4096", "training.local_batch=1"});
  }
  void the_formula_is_close_to_the_plan() {
    QFETCH(int, ranks);
    QFETCH(QStringList, sets);
    const recipe::Recipe recipe = needy_recipe(sets, ranks);
    double most = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const auto planned = predict::capture_and_plan(recipe, rank, predict::rates_here(recipe));
      QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
      const passes::Plan& plan = planned->plan;
      auto bytes = static_cast<double>(plan.memory.arena_bytes);
      for (const graph::Binding& state : plan.graph.states)
        bytes += static_cast<double>(plan.graph.values[state.value].bytes());
      most = std::max(most, bytes);
    }
    const double formula = static_cast<double>(holdings::needs_of(recipe).on_device());
    QVERIFY2(
        std::abs(formula / most - 1) < 0.2,
        qPrintable(QString("%1 MB by formula, %2 MB planned").arg(formula / 1e6).arg(most / 1e6)));
  }

  void a_checkpoint_is_copied_first() {
    const recipe::Recipe without = needy_recipe({}, 2);
    recipe::Recipe with = without;
    with.checkpoint.enabled = true;
    QCOMPARE(holdings::needs_of(without).staging, 0);
    // Parameter and two moments, half of each.
    QCOMPARE(holdings::needs_of(with).staging, holdings::needs_of(with).states);
    QCOMPARE(holdings::needs_of(with).on_device(), holdings::needs_of(without).on_device());
  }
};

HEDDLE_TEST(NeedsTest)
#include "needs_test.moc"
