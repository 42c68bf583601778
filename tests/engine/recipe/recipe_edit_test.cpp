// with_key changes one key of a text and leaves every other byte as it is.
#include <QTest>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

namespace {

void row(const char* name, const char* before, const char* key, const char* value,
         const char* after) {
  QTest::newRow(name) << before << key << value << after;
}

const char* const kText = R"(# A recipe.

[model]   # the model
preset = "llama3-8b"  # é: columns count characters
dim = 64 # small

[training]
# for a first look
steps   =   100    # few
max_norm = 1.0

[[override]]
modules = ["layers.0-15"]
)";

}  // namespace

class RecipeEditTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void edits_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("after");
    row("replace", "[training]\nsteps   =   100    # few\n", "training.steps", "20",
        "[training]\nsteps   =   20    # few\n");
    row("replace after é", "[model]\ncheckpoint = \"é\" # é\n", "model.checkpoint", "\"b\"",
        "[model]\ncheckpoint = \"b\" # é\n");
    row("replace a list of many lines",
        "[wrapping]\nbuckets = [\n  [\"norm\"], # a\n]\nmode = \"manual\"", "wrapping.buckets",
        "[]", "[wrapping]\nbuckets = []\nmode = \"manual\"");
    row("add in order", "[training]\nsteps = 1\nseed = 2\n", "training.local_batch", "4",
        "[training]\nsteps = 1\nlocal_batch = 4\nseed = 2\n");
    row("add first", "[training] # t\n# note\nseed = 2\n", "training.steps", "4",
        "[training] # t\nsteps = 4\n# note\nseed = 2\n");
    row("add at the end without a newline", "[training]\nsteps = 1", "training.seed", "3",
        "[training]\nsteps = 1\nseed = 3\n");
    row("add to an empty table", "[data]\n\n[training]\n\n[optimizer]\nlr = 1\n", "training.seed",
        "3", "[data]\n\n[training]\nseed = 3\n\n[optimizer]\nlr = 1\n");
    row("add a table in order", "[model]\ndim = 8\n\n[optimizer]\nlr = 1\n", "training.steps", "5",
        "[model]\ndim = 8\n\n[training]\nsteps = 5\n\n[optimizer]\nlr = 1\n");
    row("add a table after a list of tables", "[[override]]\nmodules = [\"norm\"]\n",
        "hardware.ranks", "4", "[[override]]\nmodules = [\"norm\"]\n\n[hardware]\nranks = 4\n");
    row("add a table to nothing", "", "model.preset", "\"llama3-8b\"",
        "[model]\npreset = \"llama3-8b\"\n");
    row("add a table to comments", "# mine\n", "model.dim", "8", "# mine\n\n[model]\ndim = 8\n");
    row("dotted keys stay dotted", "training.steps = 1\ndata.seed = 3\n", "training.seed", "2",
        "training.steps = 1\ntraining.seed = 2\ndata.seed = 3\n");
    row("replace within braces", "model = { dim = 8, n_heads = 2 }\n", "model.dim", "16",
        "model = { dim = 16, n_heads = 2 }\n");
    row("add within braces", "model = { dim = 8 }\n", "model.n_heads", "2",
        "model = { dim = 8, n_heads = 2 }\n");
    row("add within empty braces", "model = {}\n", "model.n_heads", "2",
        "model = { n_heads = 2 }\n");
    row("remove within braces", "model = { dim = 8, n_heads = 2 }\n", "model.dim", "",
        "model = { n_heads = 2 }\n");
    row("remove the last within braces", "model = { dim = 8, n_heads = 2 }\n", "model.n_heads", "",
        "model = { dim = 8 }\n");
    row("remove", "[training]\nsteps = 1\nseed = 2 # s\n\n[data]\n", "training.seed", "",
        "[training]\nsteps = 1\n\n[data]\n");
    row("remove a list of many lines",
        "[wrapping]\nbuckets = [\n  [\"norm\"],\n]\nmode = \"manual\"\n", "wrapping.buckets", "",
        "[wrapping]\nmode = \"manual\"\n");
    row("remove what is not there", "[training]\n", "training.seed", "", "[training]\n");
    row("a table's own table", "[model.rope_scaling]\nfactor = 8\n", "model.rope_scaling.factor",
        "4", "[model.rope_scaling]\nfactor = 4\n");
    row("beside a table's own table", "[model]\ndim = 8\n[model.rope_scaling]\nfactor = 8\n",
        "model.n_heads", "4", "[model]\ndim = 8\nn_heads = 4\n[model.rope_scaling]\nfactor = 8\n");
    row("a new inner key", "[model]\ndim = 8\n", "model.rope_scaling.factor", "4",
        "[model]\ndim = 8\nrope_scaling.factor = 4\n");
  }

  void edits() {
    QFETCH(QString, before);
    QFETCH(QString, key);
    QFETCH(QString, value);
    const auto after = with_key(before.toStdString(), key.toStdString(), value.toStdString());
    QVERIFY2(after.has_value(), after ? "" : after.error().message.c_str());
    QTEST(QString::fromStdString(*after), "after");
  }

  void every_key_goes_in_and_out() {
    for (const KeyInfo& info : keys()) {
      if (info.key == "override") continue;
      const auto with = with_key(kText, info.key, info.fallback);
      QVERIFY2(with.has_value(), with ? "" : with.error().message.c_str());
      QVERIFY2(parse(*with, "with").places.contains(info.key), info.key.c_str());
      const auto without = with_key(*with, info.key, "");
      QVERIFY(without.has_value());
      QVERIFY2(!parse(*without, "without").places.contains(info.key), info.key.c_str());
      // Nothing but that key and perhaps its new table's header differs from the text before.
      Recipe expected = parse(*with_key(kText, info.key, ""), "expected").recipe;
      QVERIFY2(parse(*without, "without").recipe == expected, info.key.c_str());
    }
  }

  void exceptions_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("wanted");  // "modules recompute" a line
    QTest::addColumn<QString>("after");
    const auto row = [](const char* name, const char* before, const char* wanted,
                        const char* after) {
      QTest::newRow(name) << QString(before) << QString(wanted) << QString(after);
    };
    const char* two =
        "[[override]]\nmodules = [\"layers.0-1\"] # slow\nrecompute = \"full\"\n\n"
        "[[override]]\nmodules = [\"norm\"]\nrecompute = \"none\"\n";
    row("the first", "[training]\nsteps = 1\n[hardware]\nranks = 2\n", "layers.0-3 full",
        "[training]\nsteps = 1\n\n[[override]]\nmodules = [\"layers.0-3\"]\nrecompute = \"full\"\n"
        "[hardware]\nranks = 2\n");
    row("in nothing", "", "layers.0 none",
        "[[override]]\nmodules = [\"layers.0\"]\nrecompute = \"none\"\n");
    row("another", two, "layers.0-1 full\nnorm none\nlayers.7 full",
        "[[override]]\nmodules = [\"layers.0-1\"] # slow\nrecompute = \"full\"\n\n[[override]]\n"
        "modules = [\"norm\"]\nrecompute = \"none\"\n\n[[override]]\nmodules = [\"layers.7\"]\n"
        "recompute = \"full\"\n");
    row("one changes", two, "layers.0-1 full\nnorm selective",
        "[[override]]\nmodules = [\"layers.0-1\"] # slow\nrecompute = \"full\"\n\n[[override]]\n"
        "modules = [\"norm\"]\nrecompute = \"selective\"\n");
    row("one goes", two, "norm none", "[[override]]\nmodules = [\"norm\"]\nrecompute = \"none\"\n");
    row("all go", "[training]\nsteps = 1\n\n[[override]]\nmodules = [\"norm\"]\n[hardware]\n", "",
        "[training]\nsteps = 1\n[hardware]\n");
  }

  void exceptions() {
    QFETCH(QString, before);
    QFETCH(QString, wanted);
    std::vector<Override> list;
    for (const QString& line : wanted.split('\n', Qt::SkipEmptyParts)) {
      const Parsed one =
          parse("override = [{ modules = [\"" + line.section(' ', 0, 0).toStdString() +
                    "\"], recompute = \"" + line.section(' ', 1).toStdString() + "\" }]",
                "r");
      list.push_back(one.recipe.overrides.at(0));
    }
    const auto after = with_overrides(before.toStdString(), list);
    QVERIFY2(after.has_value(), after ? "" : after.error().message.c_str());
    QTEST(QString::fromStdString(*after), "after");
  }

  void exceptions_are_refused_where_they_cannot_be_edited() {
    QVERIFY(!with_overrides("[model\n", {}).has_value());
    QVERIFY(!with_overrides("override = [{ modules = [\"norm\"] }]\n", {}).has_value());
  }

  void refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::newRow("text is no TOML") << "[model\n"
                                     << "model.dim"
                                     << "8";
    QTest::newRow("value is no TOML") << ""
                                      << "model.dim"
                                      << "eight";
    QTest::newRow("value is more than one") << ""
                                            << "model.dim"
                                            << "8\nn_heads = 2";
    QTest::newRow("a list of tables") << "[[override]]\n"
                                      << "override"
                                      << "[]";
    QTest::newRow("a table") << "[model]\n"
                             << "model"
                             << "{}";
    QTest::newRow("a table with a header") << "[model.rope_scaling]\n"
                                           << "model.rope_scaling"
                                           << "false";
    QTest::newRow("below a value") << "[model]\ndim = 8\n"
                                   << "model.dim.x"
                                   << "8";
    QTest::newRow("model is no table") << "model = 3\n"
                                       << "model.dim"
                                       << "8";
  }

  void refused() {
    QFETCH(QString, text);
    QFETCH(QString, key);
    QFETCH(QString, value);
    const auto result = with_key(text.toStdString(), key.toStdString(), value.toStdString());
    QVERIFY(!result.has_value());
    QVERIFY(!result.error().message.empty());
  }
};

HEDDLE_TEST(RecipeEditTest)
#include "recipe_edit_test.moc"
