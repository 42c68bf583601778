// Learning rate and weight decay of each parameter, with exceptions.
#include "engine/holdings/update_rules.h"

#include <QTest>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;
using heddle::holdings::UpdateRule;
using heddle::holdings::UpdateRules;

namespace {

UpdateRules rules_of(const std::string& lines) {
  const Parsed parsed =
      parse("model.preset = \"llama3-debug\"\nmodel.attention_bias = true\n" + lines, "r.toml");
  if (!parsed.ok()) qFatal("%s", parsed.faults[0].str().c_str());
  return UpdateRules(parsed.recipe);
}

}  // namespace

class UpdateRulesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void without_exceptions_all_are_alike() {
    const UpdateRules rules = rules_of("optimizer.lr = 1e-3\noptimizer.weight_decay = 0.2\n");
    for (const char* name : {"tok_embeddings.weight", "layers.0.attention.wq.bias", "norm.weight"})
      QVERIFY((rules.of(name) == UpdateRule{1e-3, 0.2}));
  }

  void kinds_modules_and_parameters_data() {
    QTest::addColumn<QString>("names");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<bool>("is_named");
    const auto row = [](const char* names, const char* parameter, bool is_named) {
      QTest::addRow("%s: %s", names, parameter) << names << parameter << is_named;
    };
    row("norms", "norm.weight", true);
    row("norms", "layers.3.ffn_norm.weight", true);
    row("norms", "layers.3.attention.q_norm.weight", true);
    row("norms", "layers.3.attention.wq.weight", false);
    row("biases", "layers.3.attention.wq.bias", true);
    row("biases", "layers.3.attention.wq.weight", false);
    row("embeddings", "tok_embeddings.weight", true);
    row("embeddings", "output.weight", false);
    row("layers.2-4.attention", "layers.3.attention.wq.bias", true);
    row("layers.2-4.attention", "layers.3.attention_norm.weight", false);
    row("layers.2-4.attention", "layers.5.attention.wq.weight", false);
    row("layers.3.attention.wq.bias", "layers.3.attention.wq.bias", true);
    row("layers.3.attention.wq.bias", "layers.3.attention.wq.weight", false);
    row("output", "output.weight", true);
  }
  void kinds_modules_and_parameters() {
    QFETCH(QString, names);
    QFETCH(QString, parameter);
    QFETCH(bool, is_named);
    const UpdateRules rules =
        rules_of("[[override]]\nmodules = [\"" + names.toStdString() + "\"]\nweight_decay = 0\n");
    QCOMPARE(rules.of(parameter.toStdString()).weight_decay, is_named ? 0.0 : 0.1);
    QCOMPARE(rules.of(parameter.toStdString()).lr, 3e-4);
  }

  void the_first_that_names_it_counts() {
    const UpdateRules rules = rules_of(
        "[[override]]\nmodules = [\"layers.0\"]\nlr = 1e-5\n"
        "[[override]]\nmodules = [\"norms\", \"layers\"]\nlr = 1e-4\nweight_decay = 0\n");
    QVERIFY((rules.of("layers.0.ffn_norm.weight") == UpdateRule{1e-5, 0}));
    QVERIFY((rules.of("layers.1.ffn_norm.weight") == UpdateRule{1e-4, 0}));
    QVERIFY((rules.of("output.weight") == UpdateRule{3e-4, 0.1}));
  }

  void tied_embeddings_are_one_parameter() {
    const UpdateRules rules = rules_of(
        "model.tied_embeddings = true\n[[override]]\nmodules = [\"embeddings\"]\nlr = 1e-5\n");
    QCOMPARE(rules.of("output.weight").lr, 1e-5);
  }
};

HEDDLE_TEST(UpdateRulesTest)
#include "update_rules_test.moc"
