// Parameter counts, FLOPs and module names of the Llama family. Figures: the published models'.
#include <QTest>

#include "engine/recipe/modules.h"
#include "engine/recipe/presets.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

class RecipeModulesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parameter_counts_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<qint64>("vocabulary");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("debug") << "llama3-debug" << qint64{2048} << qint64{6'163'712};
    QTest::newRow("1b") << "llama3-1b" << qint64{128256} << qint64{1'235'814'400};
    QTest::newRow("3b") << "llama3-3b" << qint64{128256} << qint64{3'212'749'824};
    QTest::newRow("8b") << "llama3-8b" << qint64{128256} << qint64{8'030'261'248};
    QTest::newRow("70b") << "llama3-70b" << qint64{128256} << qint64{70'553'706'496};
    QTest::newRow("405b") << "llama3-405b" << qint64{128256} << qint64{405'853'388'800};
  }

  void parameter_counts() {
    QFETCH(QString, name);
    QFETCH(qint64, vocabulary);
    Model model = *preset(name.toStdString());
    if (model.vocab_size == 0) model.vocab_size = vocabulary;
    QTEST(qint64{parameter_count(model)}, "parameters");
    qint64 sum = 0;
    for (const Parameter& parameter : parameters(model)) sum += parameter.elements();
    QTEST(sum, "parameters");
  }

  // Qwen3-0.6B: heads that are not dim / heads, norms of queries and keys.
  void other_heads_and_norms_are_counted() {
    Model model;
    model.dim = 1024;
    model.n_layers = 28;
    model.n_heads = 16;
    model.n_kv_heads = 8;
    model.head_dim = 128;
    model.ffn_dim = 3072;
    model.vocab_size = 151936;
    model.tied_embeddings = model.qk_norm = true;
    QCOMPARE(qint64{parameter_count(model)}, qint64{596'049'920});
    const qint64 heads = qint64{12} * 28 * 16 * 128 * 512;
    QCOMPARE(qint64{flops_per_token(model, 512)}, 6 * qint64{596'049'920} + heads);
    // A bias for each output of a linear layer.
    const qint64 before = layer_parameter_count(model);
    model.qkv_bias = true;
    QCOMPARE(layer_parameter_count(model) - before, qint64{2048 + 1024 + 1024});
    model.qkv_bias = false;
    model.attention_bias = true;
    QCOMPARE(layer_parameter_count(model) - before, qint64{2048 + 1024 + 1024 + 1024});
    model.mlp_bias = true;
    QCOMPARE(layer_parameter_count(model) - before, qint64{5120 + 3072 + 3072 + 1024});
    const Modules modules(model);
    QCOMPARE(modules.under("layers.3.attention.wq").size(), size_t{2});
    QCOMPARE(modules.under("layers.3.attention").size(), size_t{4 + 4 + 2});
  }

  void flops() {
    QCOMPARE(qint64{flops_per_token(*preset("llama3-8b"), 8192)}, qint64{57'914'449'920});
    // Tied or not, the output matrix is multiplied with.
    Model tied = *preset("llama3-1b");
    Model untied = tied;
    untied.tied_embeddings = false;
    QCOMPARE(flops_per_token(tied, 1024), flops_per_token(untied, 1024));
  }

  void shapes() {
    const auto all = parameters(*preset("llama3-8b"));
    QCOMPARE(all.size(), size_t{1 + 32 * 9 + 2});
    QCOMPARE(all.front().name(), std::string("tok_embeddings.weight"));
    const auto shape = [&](const char* module) {
      return std::ranges::find(all, module, &Parameter::module)->shape;
    };
    QCOMPARE(shape("layers.31.attention.wk"), (std::vector<int64_t>{1024, 4096}));
    QCOMPARE(shape("layers.0.feed_forward.w2"), (std::vector<int64_t>{4096, 14336}));
    QCOMPARE(shape("layers.7.ffn_norm"), (std::vector<int64_t>{4096}));
    QCOMPARE(shape("output"), (std::vector<int64_t>{128256, 4096}));
  }

  void names_cover_what_is_below_them() {
    const Modules modules(*preset("llama3-8b"));
    QCOMPARE(modules.under("tok_embeddings").size(), size_t{1});
    QCOMPARE(modules.under("layers").size(), size_t{32 * 9});
    QCOMPARE(modules.under("layers.3").size(), size_t{9});
    QCOMPARE(modules.under("layers.3.attention").size(), size_t{4});
    QCOMPARE(modules.under("layers.3.attention.wq").size(), size_t{1});
    QCOMPARE(modules.under("layers.0-15.feed_forward").size(), size_t{16 * 3});
    QVERIFY(modules.contains("layers.31"));
    QVERIFY(!modules.contains("layers.32"));
    QVERIFY(!modules.contains("layers.30-32"));
    QVERIFY(!modules.contains("layers.3-"));
    QVERIFY(!modules.contains(""));
    QVERIFY(!modules.contains("layers.3.attention_norm.weight"));
  }

  void tied_output_is_a_module_without_a_parameter() {
    const Modules modules(*preset("llama3-1b"));
    QVERIFY(modules.contains("output"));
    QVERIFY(modules.under("output").empty());
  }

  void ranges() {
    QCOMPARE(expand_range("layers.2-4.attention"),
             (std::vector<std::string>{"layers.2.attention", "layers.3.attention",
                                       "layers.4.attention"}));
    QCOMPARE(expand_range("norm"), std::vector<std::string>{"norm"});
    QVERIFY(expand_range("layers.4-2").empty());
    QVERIFY(expand_range("layers.0-99999999999").empty());
    QVERIFY(expand_range("layers.a-b").empty());
  }
};

HEDDLE_TEST(RecipeModulesTest)
#include "recipe_modules_test.moc"
