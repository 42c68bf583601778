// A kept capture equals a new one.
#include "engine/step/capture_memory.h"

#include <QTest>

#include "engine/graph/text.h"
#include "tests/support/small_recipe.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// The graph without its notes, which have recipe keys that only passes read.
std::string text_of(Result<step::Captured> captured) {
  if (!captured) qFatal("%s", captured.error().message.c_str());
  captured->graph.notes.clear();
  return graph::to_text(captured->graph);
}

const QList<QStringList> kRecipes = {
    {},
    {"recompute.mode=\"full\""},
    {"parallelism.dp_replicate=2"},
    {"parallelism.dp_shard_states=\"optimizer\""},
    {"parallelism.tp=2"},
    {"parallelism.tp=2", "parallelism.sequence_parallel=false"},
    {"parallelism.tp=2", "parallelism.tp_chunks=2"},
    {"parallelism.cp=2"},
    {"parallelism.cp=2", "parallelism.cp_mode=\"ring\""},
    {"parallelism.cp=2", "parallelism.cp_mode=\"ulysses\""},
    {"training.local_batch=2"},
    {"training.global_batch=32"},
    {"training.global_batch=32", "wrapping.reduce_each=\"micro-batch\""},
    {"training.max_norm=0"},
    {"training.loss_chunks=2"},
    {"precision.param=\"bf16\""},
    {"precision.param=\"bf16\"", "precision.reduce=\"bf16\""},
    {"optimizer.name=\"sgd\""},
    {"optimizer.weight_decay=0"},
    {"model.tied_embeddings=true"},
    {"model.qk_norm=true"},
    {"data.document_mask=true"},
};

}  // namespace

class CaptureMemoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_kept_capture_equals_a_new_one() {
    step::CaptureMemory memory(2 * static_cast<size_t>(kRecipes.size()));
    for (const char* time : {"first", "second"})
      for (const QStringList& sets : kRecipes) {
        const recipe::Recipe recipe = small_recipe(sets);
        for (const step::Work work : {step::Work::train, step::Work::validate})
          QVERIFY2(
              text_of(memory.capture(recipe, work)) == text_of(step::capture_step(recipe, work)),
              qPrintable(sets.join(' ') + ", " + time));
      }
  }
};

HEDDLE_TEST(CaptureMemoryTest)
#include "capture_memory_test.moc"
