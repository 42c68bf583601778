// Predictions from a few micro-batches against predictions of whole steps.
#include "engine/predict/predict.h"

#include <QtTest>
#include <set>
#include <tuple>

#include "engine/checkpoint/load_recipe.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

recipe::Recipe recipe_of(const std::vector<std::string>& sets, const std::string& more = "") {
  const std::string text =
      "[model]\ndim = 64\nn_layers = 8\nn_heads = 4\nffn_dim = 128\nvocab_size = 256\n"
      "[data]\nseq_len = 64\ntoken_ids = \"none\"\n[checkpoint]\nenabled = false\n" +
      more;
  const recipe::Parsed parsed = checkpoint::load_recipe(text, "test.toml", sets);
  for (const recipe::Fault& fault : parsed.faults) qWarning("%s", fault.str().c_str());
  return parsed.recipe;
}

bool close(double a, double b, double share) { return std::abs(a - b) <= share * std::abs(b); }

}  // namespace

class PredictTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_CACHE_HOME", cache_.path().toUtf8()); }

  // Four micro-batches: whole parameters are gathered once, whole gradients reduced once.
  void what_is_not_sharded_travels_once_a_step() {
    const auto planned = [](const char* states) {
      const auto document = predict::predict(
          recipe_of({"hardware.ranks=4", "training.local_batch=1", "training.global_batch=16",
                     std::string("parallelism.dp_shard_states=\"") + states + "\""}),
          {});
      if (!document) qFatal("%s", document.error().message.c_str());
      return *document;
    };
    const auto all = planned("all"), gradients = planned("gradients"),
               states = planned("optimizer");
    const auto sent = [](const plan::Document& of) { return of.bytes_by_group.at("dp_shard"); };
    const auto once = static_cast<double>(sent(states)) / 2;
    QVERIFY(close(static_cast<double>(sent(gradients)), 5 * once, 0.02));
    QVERIFY(static_cast<double>(sent(all)) > 6 * once);
  }

  // Where a bucket a layer fits, so does the wrapping that the plan chooses.
  void automatic_wrapping_keeps_to_the_devices_memory() {
    const auto peak = [](const char* mode) {
      const recipe::Parsed parsed = checkpoint::load_recipe(
          "[model]\npreset = \"llama3-8b\"\n[data]\ntoken_ids = \"none\"\n", "test.toml",
          {"hardware.name=\"h100-sxm\"", "hardware.ranks=2",
           std::string("wrapping.mode=\"") + mode + "\""});
      const auto document = predict::predict(parsed.recipe, {});
      if (!document) qFatal("%s", document.error().message.c_str());
      if (document->peak_bytes > document->limit_bytes) qWarning("%s does not fit", mode);
      return document->peak_bytes - document->limit_bytes;
    };
    QVERIFY(peak("layers") <= 0);
    QVERIFY(peak("auto") <= 0);
  }

  void parts_are_the_whole_data() {
    QTest::addColumn<QStringList>("sets");
    QTest::addColumn<QString>("more");
    QTest::newRow("accumulation") << QStringList{"hardware.ranks=2", "training.local_batch=2",
                                                 "training.global_batch=32"}
                                  << "";
    for (const char* schedule : {"gpipe", "1f1b", "zero-bubble", "interleaved"})
      QTest::newRow(schedule)
          << QStringList{"hardware.ranks=4", "parallelism.pp=4", "training.local_batch=16",
                         "parallelism.microbatches=16",
                         QString("parallelism.pp_schedule=\"%1\"").arg(schedule)}
          << "";
    QTest::newRow("zero-bubble, tensor parallel")
        << QStringList{"hardware.ranks=4",
                       "parallelism.pp=2",
                       "parallelism.tp=2",
                       "training.local_batch=16",
                       "parallelism.microbatches=16",
                       "parallelism.pp_schedule=\"zero-bubble\""}
        << "";
    QTest::newRow("a pipeline of shards")
        << QStringList{"hardware.ranks=4", "parallelism.pp=2", "parallelism.dp_shard=2",
                       "training.local_batch=8", "parallelism.microbatches=8"}
        << "";
    QTest::newRow("a pipeline whose loss is made in chunks")
        << QStringList{"hardware.ranks=2", "parallelism.pp=2", "training.local_batch=8",
                       "parallelism.microbatches=8", "training.loss_chunks=4"}
        << "";
    QTest::newRow("a pipeline in 8 bits")
        << QStringList{"hardware.ranks=2",         "parallelism.pp=2",
                       "training.local_batch=8",   "parallelism.microbatches=8",
                       "precision.param=\"bf16\"", "precision.float8=\"tensorwise\""}
        << "";
    // Two of four stages are alike, and one represents both.
    QTest::newRow("like stages") << QStringList{"hardware.ranks=8",
                                                "parallelism.pp=4",
                                                "parallelism.dp_shard=2",
                                                "training.local_batch=8",
                                                "parallelism.microbatches=8",
                                                "wrapping.mode=\"layers\""}
                                 << "";
    // The two in the middle have as many layers, but are wrapped or recomputed differently.
    const QStringList middle{"hardware.ranks=8",           "parallelism.pp=4",
                             "parallelism.dp_shard=2",     "training.local_batch=16",
                             "parallelism.microbatches=8", "data.seq_len=256"};
    QTest::newRow("a range of layers in each of two stages")
        << middle
        << "[wrapping]\nmode = \"manual\"\nbuckets = [[\"tok_embeddings\"], [\"layers.0-1\"], "
           "[\"layers.2-3\"], [\"layers.4-5\"], [\"layers.6-7\", \"norm\", \"output\"]]\n";
    QTest::newRow("an exception in one of two stages")
        << middle
        << "[wrapping]\nmode = \"layers\"\n"
           "[[override]]\nmodules = [\"layers.4-5\"]\nrecompute = \"full\"\n";
    QTest::newRow("a bucket in one of two stages")
        << middle
        << "[wrapping]\nmode = \"manual\"\nbuckets = [[\"tok_embeddings\"], "
           "[\"layers.0-1\"], [\"layers.2\"], [\"layers.3\"], [\"layers.4-5\"], "
           "[\"layers.6-7\", \"norm\", \"output\"]]\n";
    QTest::newRow("a bucket across two stages")
        << middle
        << "[wrapping]\nmode = \"manual\"\nbuckets = [[\"tok_embeddings\"], "
           "[\"layers.0-1\"], [\"layers.2\"], [\"layers.3-4\"], [\"layers.5\"], "
           "[\"layers.6-7\", \"norm\", \"output\"]]\n";
  }
  void parts_are_the_whole() {
    QFETCH(QStringList, sets);
    QFETCH(QString, more);
    std::vector<std::string> all;
    for (const QString& set : sets) all.push_back(set.toStdString());
    const recipe::Recipe recipe = recipe_of(all, more.toStdString());
    const auto whole = predict::predict(recipe, {});
    predict::PredictOptions few;
    few.most_nodes = 0;
    few.timeline = true;
    const auto parts = predict::predict(recipe, few);
    QVERIFY2(whole && parts, whole ? "parts" : whole.error().message.c_str());
    const auto said = [&](double is, double was) {
      return QString("%1 by parts, %2 whole").arg(is).arg(was).toUtf8();
    };
    QVERIFY2(close(parts->step_seconds, whole->step_seconds, 0.05),
             said(parts->step_seconds, whole->step_seconds));
    QVERIFY2(close(double(parts->peak_bytes), double(whole->peak_bytes), 0.05),
             said(double(parts->peak_bytes), double(whole->peak_bytes)));
    QCOMPARE(parts->ranks_shown.size(), whole->ranks_shown.size());
    QVERIFY(parts->plan_hash.empty() && !whole->plan_hash.empty());
    for (size_t i = 0; i < parts->ranks_shown.size(); ++i) {
      const plan::RankFigures& rank = parts->ranks_shown[i];
      const plan::RankFigures& of_whole = whole->ranks_shown[i];
      QVERIFY2(close(double(rank.peak_bytes), double(of_whole.peak_bytes), 0.05),
               said(double(rank.peak_bytes), double(of_whole.peak_bytes)));
      const double sum = rank.compute_seconds + rank.exposed_seconds + rank.bubble_seconds;
      QVERIFY2(close(sum, rank.step_seconds, 0.01), said(sum, rank.step_seconds));
    }
    const auto gathered = [](const plan::Document& document) {
      std::set<std::tuple<int64_t, std::string, std::vector<std::string>>> buckets;
      for (const plan::BucketFigures& bucket : document.buckets)
        buckets.emplace(bucket.stage, bucket.name, bucket.modules);
      return buckets;
    };
    QCOMPARE(gathered(*parts), gathered(*whole));
    // A rank's memory over the step has the peak that the document names.
    for (size_t i = 0; i < parts->timelines.size(); ++i) {
      int64_t most = 0;
      for (const plan::MemoryMoment& moment : parts->timelines[i].memory)
        most = std::max(most, moment.bytes.total());
      QCOMPARE(most, parts->ranks_shown[i].peak_bytes);
    }
    // Nothing overlaps on a compute stream, and nothing reaches beyond the step.
    for (const plan::RankTimeline& timeline : parts->timelines) {
      int64_t busy = 0;
      for (const telemetry::Span& span : timeline.spans)
        if (span.stream == 0) busy += span.duration_us;
      QVERIFY(double(busy) * 1e-6 <= parts->step_seconds * 1.001);
    }
  }

  void a_prediction_can_be_given_up() {
    predict::PredictOptions options;
    options.cancelled = [] { return true; };
    const auto given_up = predict::predict(recipe_of({"hardware.ranks=2"}), options);
    QVERIFY(!given_up);
    QCOMPARE(given_up.error().message, std::string(predict::kCancelled));
  }

 private:
  QTemporaryDir cache_;
};

HEDDLE_TEST(PredictTest)
#include "predict_test.moc"
