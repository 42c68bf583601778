// Which buckets a recipe's wrapping makes, as data.
#include "gui/views/compose/bucket_list.h"

#include <QTest>

#include "engine/recipe/modules.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

recipe::Recipe recipeWith(const std::string& wrapping) {
  const auto resolved =
      recipe::resolve(recipe::parse("[model]\npreset = \"llama3-debug\"\nn_layers = 4\nvocab_size "
                                    "= 100\n[data]\ntoken_ids = \"a\"\n"
                                    "[wrapping]\n" +
                                        wrapping,
                                    "r"));
  for (const auto& fault : resolved.faults) qWarning("%s", fault.str().c_str());
  return resolved.recipe;
}

QStringList names(const BucketList& list) {
  QStringList result;
  for (const Bucket& bucket : list.buckets) result << bucket.name;
  return result;
}

}  // namespace

class BucketListTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_of_buckets_data() {
    QTest::addColumn<QString>("wrapping");
    QTest::addColumn<QStringList>("expected");
    QTest::addColumn<bool>("movable");
    QTest::newRow("layers") << "mode = \"layers\""
                            << QStringList{"tok_embeddings", "layer 0", "layer 1",
                                           "layer 2",        "layer 3", "norm · output"}
                            << true;
    QTest::newRow("runs") << "mode = \"manual\"\nbuckets = [[\"tok_embeddings\", \"layers.0\"], "
                             "[\"layers.1-3\"], [\"norm\", \"output\"]]"
                          << QStringList{"tok_embeddings · layer 0", "layers 1–3", "norm · output"}
                          << true;
    QTest::newRow("named one by one")
        << "mode = \"manual\"\nbuckets = [[\"tok_embeddings\"], [\"layers.0\", \"layers.1\"], "
           "[\"layers.2.attention\", \"layers.2.feed_forward\", \"layers.2.attention_norm\", "
           "\"layers.2.ffn_norm\"], [\"layers.3\", \"norm\", \"output\"]]"
        << QStringList{"tok_embeddings", "layers 0–1", "layer 2", "layer 3 · norm · output"}
        << true;
    QTest::newRow("no runs") << "mode = \"manual\"\nbuckets = [[\"tok_embeddings\", \"output\"], "
                                "[\"layers.0-3\"], [\"norm\"]]"
                             << QStringList{"tok_embeddings · output", "layers 0–3", "norm"}
                             << false;
  }

  void names_of_buckets() {
    QFETCH(QString, wrapping);
    const auto recipe = recipeWith(wrapping.toStdString());
    const BucketList list = bucketsOf(recipe, true);
    QTEST(names(list), "expected");
    QTEST(list.movable, "movable");
    QVERIFY(list.known);
    qint64 all = 0;
    for (const Bucket& bucket : list.buckets) all += bucket.elements;
    QCOMPARE(all, qint64{recipe::parameter_count(recipe.model)});
  }

  void an_edge_is_offered_where_one_can_be_dragged_data() {
    QTest::addColumn<QStringList>("modules");  // of each bucket of the plan; none: no plan yet
    QTest::addColumn<QString>("words");
    QTest::newRow("no plan yet")
        << QStringList{} << "The plan will group these; drag an edge to group them manually.";
    QTest::newRow("whole layers") << QStringList{"tok_embeddings", "layers.0 layers.1",
                                                 "layers.2 layers.3 norm output"}
                                  << "The plan groups these; drag an edge to group them manually.";
    QTest::newRow("of two stages, each with every second layer")
        << QStringList{"tok_embeddings layers.0", "layers.2", "layers.1", "layers.3 norm output"}
        << "The plan groups these; drag an edge to group them manually.";
    QTest::newRow("a whole layer, by its parts")
        << QStringList{"tok_embeddings",
                       "layers.0.attention_norm layers.0.attention.wk layers.0.attention.wv "
                       "layers.0.attention.wq layers.0.attention.wo layers.0.ffn_norm "
                       "layers.0.feed_forward.w1 layers.0.feed_forward.w3 layers.0.feed_forward.w2",
                       "layers.1 layers.2 layers.3", "norm output"}
        << "The plan groups these; drag an edge to group them manually.";
    QTest::newRow("parts of layers")
        << QStringList{"tok_embeddings layers.0.attention", "layers.0.feed_forward"}
        << "The plan groups these, not in whole layers: to drag edges, choose layers or manual "
           "first.";
    QTest::newRow("one of all")
        << QStringList{"tok_embeddings layers.0 layers.1 layers.2 layers.3 norm output"}
        << "The plan makes one bucket of all; double-click splits it.";
  }

  void an_edge_is_offered_where_one_can_be_dragged() {
    QFETCH(QStringList, modules);
    QFETCH(QString, words);
    const auto recipe = recipeWith("mode = \"auto\"");
    plan::Document document;
    for (const QString& bucket : modules) {
      plan::BucketFigures& figures = document.buckets.emplace_back();
      for (const QString& each : bucket.split(' ')) figures.modules.push_back(each.toStdString());
    }
    BucketList list = bucketsOf(recipe, true);
    if (!modules.isEmpty()) addPredicted(list, document, recipe.model);
    QCOMPARE(groupingWords(recipe.wrapping.mode, list), words);
    QCOMPARE(list.hasEdges(), words.contains("drag an edge"));
  }

  void without_a_model_there_is_no_edge() {
    const BucketList none = bucketsOf(recipe::Recipe(), false);
    QVERIFY(!none.hasEdges());
    QCOMPARE(groupingWords(recipe::WrappingMode::automatic, none),
             QString("The plan will make the buckets."));
  }

  // rank_share_test holds the engine to the same numbers.
  void sizes_are_those_that_a_rank_gathers() {
    const auto of = [](std::vector<std::string> sets) {
      sets.insert(sets.begin(), "parallelism.dp_shard=-1");
      return recipe::resolve(recipe::parse_file(HEDDLE_SOURCE_DIR
                                                "/resources/recipes/llama3-8b-8xh100.toml",
                                                sets))
          .recipe;
    };
    const qint64 layer = 2 * 218'112'000;  // bytes in bf16
    const qint64 norms = 2 * 2 * 4096;
    const auto gathered = [&](std::vector<std::string> sets) {
      sets.push_back("wrapping.mode=layers");
      return bucketsOf(of(sets), true).buckets[1].gathered;
    };
    QCOMPARE(gathered({}), QList<qint64>{layer});
    QCOMPARE(gathered({"parallelism.cp=2"}), QList<qint64>{layer});
    QCOMPARE(gathered({"parallelism.tp=2"}), QList<qint64>{(layer - norms) / 2 + norms});
    QCOMPARE(gathered({"parallelism.tp=8", "hardware.ranks=16"}),
             QList<qint64>{(layer - norms) / 8 + norms});
    QCOMPARE(gathered({"parallelism.dp_replicate=4"}), QList<qint64>{layer});
    QCOMPARE(gathered({"parallelism.pp=2"}), (QList<qint64>{layer, 0}));
    QVERIFY(gathered({"parallelism.tp=8"}).isEmpty());  // nothing is sharded
    QVERIFY(bucketsOf(of({}), false).buckets[1].gathered.isEmpty());
    // A tied output gathers the embedding again.
    const auto tied = bucketsOf(of({"model.tied_embeddings=true", "wrapping.mode=layers"}), true);
    QCOMPARE(tied.buckets.last().name, QString("norm · output"));
    QCOMPARE(tied.buckets.last().mostGathered(), qint64{2} * (128'256 + 1) * 4096);
  }

  void a_bucket_a_parameter_or_none_yet() {
    QCOMPARE(bucketsOf(recipeWith("mode = \"none\""), true).buckets.size(), 1 + 4 * 9 + 2);
    QVERIFY(!bucketsOf(recipeWith("mode = \"auto\""), true).known);
  }

  void toml_of_runs_reads_back() {
    for (const char* tied : {"false", "true"}) {
      auto recipe = recipeWith("mode = \"layers\"");
      recipe.model.tied_embeddings = QString(tied) == "true";
      const QString toml = bucketsToml(recipe.model, {0, 1, 3, 5});
      const auto again = recipe::resolve(
          recipe::parse(recipe::to_toml(recipe), "r",
                        {"wrapping.mode=manual", "wrapping.buckets=" + toml.toStdString()}));
      for (const auto& fault : again.faults) qWarning("%s", fault.str().c_str());
      QVERIFY(again.ok());
      const BucketList list = bucketsOf(again.recipe, true);
      QVERIFY(list.movable);
      QCOMPARE(list.buckets[1].name, QString("layers 0–1"));
      QCOMPARE(list.buckets[2].first, 3);
    }
  }
};

HEDDLE_TEST(BucketListTest)
#include "bucket_list_test.moc"
