// The plans of all ranks of a pipeline, run next to each other, finish: no rank waits for
// one that waits for it, and what meets in a group is the same on all its ranks.
#include <QTest>
#include <vector>

#include "engine/passes/verify.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/recipe/layout.h"
#include "engine/step/capture.h"
#include "tests/support/small_recipe.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

struct Choice {
  const char* name;
  QStringList sets;
};

const QList<Choice> kSchedules = {
    {"gpipe", {"parallelism.pp_schedule=\"gpipe\""}},
    {"1f1b", {"parallelism.pp_schedule=\"1f1b\""}},
    {"interleaved", {"parallelism.pp_schedule=\"interleaved\""}},
    {"zero bubble", {"parallelism.pp_schedule=\"zero-bubble\""}},
};
const QList<Choice> kMeshes = {
    {"pp 4", {"parallelism.pp=4"}},
    {"pp 2, dp 2", {"parallelism.pp=2"}},
    {"pp 2, replicated", {"parallelism.pp=2", "parallelism.dp_replicate=2"}},
    {"pp 2, tp 2", {"parallelism.pp=2", "parallelism.tp=2"}},
    {"pp 2, cp 2", {"parallelism.pp=2", "parallelism.cp=2"}},
};
const QList<Choice> kWrappings = {
    {"none", {"wrapping.mode=\"none\""}},
    {"layers", {"wrapping.mode=\"layers\""}},
    {"one bucket",
     {"wrapping.mode=\"manual\"",
      R"(wrapping.buckets=[["tok_embeddings","layers.0-7","norm","output"]])"}},
    {"across stages",
     {"wrapping.mode=\"manual\"",
      R"(wrapping.buckets=[["layers.6","layers.1","output"],["tok_embeddings","layers.3-5"],)"
      R"(["layers.0","layers.7","norm"],["layers.2"]])"}},
};
const QList<Choice> kVariants = {
    {"fp32", {}},
    {"bf16", {"precision.param=\"bf16\""}},
    {"bf16, parameters kept", {"precision.param=\"bf16\"", "wrapping.reshard_after_forward=false"}},
    {"bf16, recomputed", {"precision.param=\"bf16\"", "recompute.mode=\"full\""}},
    {"each micro-batch reduced", {"wrapping.reduce_each=\"micro-batch\""}},
    {"tied", {"model.tied_embeddings=true"}},
    {"tied, one micro-batch", {"model.tied_embeddings=true", "parallelism.microbatches=1"}},
    {"tied, each micro-batch reduced, no clipping",
     {"model.tied_embeddings=true", "wrapping.reduce_each=\"micro-batch\"", "training.max_norm=0"}},
};

}  // namespace

class RanksMeetTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_pipeline_ends_data() {
    QTest::addColumn<QStringList>("sets");
    for (const Choice& schedule : kSchedules)
      for (const Choice& mesh : kMeshes)
        for (const Choice& wrapping : kWrappings)
          for (const Choice& step : kVariants)
            QTest::addRow("%s, %s, %s, %s", schedule.name, mesh.name, wrapping.name, step.name)
                << schedule.sets + mesh.sets + wrapping.sets + step.sets;
  }
  void every_pipeline_ends() {
    QFETCH(QStringList, sets);
    const recipe::Recipe recipe = small_recipe(sets);
    std::vector<graph::Graph> graphs;
    for (int rank = 0; rank < recipe.hardware.ranks; ++rank) {
      auto captured = step::capture_step(recipe);
      QVERIFY2(captured, captured ? "" : captured.error().message.c_str());
      auto plan =
          predict::plan_step(recipe, rank, std::move(captured->graph), predict::rates_here(recipe));
      QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
      graphs.push_back(std::move(plan->graph));
    }
    const recipe::Layout layout(recipe);
    const auto met = passes::verify_ranks(graphs, [&](int rank, const std::string& group) {
      return layout.members(rank, *layout.group(group));
    });
    QVERIFY2(met, met ? "" : met.error().message.c_str());
  }
};

HEDDLE_TEST(RanksMeetTest)
#include "ranks_meet_test.moc"
