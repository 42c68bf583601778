// What a recipe means whose model is its checkpoint's.
#include "engine/checkpoint/load_recipe.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace heddle;

namespace {

const std::string kTiny = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny";

std::string recipe_with(const std::string& model) {
  return "[model]\n" + model +
         "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 32\n"
         "[wrapping]\nmode = \"manual\"\nbuckets = [[\"tok_embeddings\"], [\"layers.0-1\"], "
         "[\"norm\", \"output\"]]\n"
         "[hardware]\nranks = 2\n";
}

recipe::Parsed load(const std::string& model) {
  return checkpoint::load_recipe(recipe_with(model), "/home/ada/tiny.toml");
}

}  // namespace

class LoadRecipeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_checkpoint_names_the_model() {
    const auto loaded = load("checkpoint = \"" + kTiny + "\"\n");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.faults[0].str().c_str());
    QCOMPARE(loaded.recipe.model.dim, int64_t(64));
    QCOMPARE(loaded.recipe.model.n_kv_heads, int64_t(2));
    QCOMPARE(loaded.recipe.model.vocab_size, int64_t(256));
    QCOMPARE(loaded.recipe.model.checkpoint, kTiny);
    // And what follows from the ranks and from the file's folder.
    QCOMPARE(loaded.recipe.parallelism.dp_shard, int64_t(2));
    QCOMPARE(loaded.recipe.data.tokenizer, std::string("/home/ada/tokenizer.json"));
  }

  void what_is_written_stands() {
    const auto loaded =
        load("checkpoint = \"" + kTiny + "\"\nmax_seq_len = 48\nrope_theta = 1e4\n");
    QVERIFY(loaded.ok());
    QCOMPARE(loaded.recipe.model.max_seq_len, int64_t(48));
    QCOMPARE(loaded.recipe.model.rope_theta, 1e4);
    QCOMPARE(loaded.recipe.model.n_layers, int64_t(2));
  }

  void a_preset_needs_no_checkpoint() {
    const auto loaded = load("preset = \"llama3-debug\"\nn_layers = 2\ncheckpoint = \"nowhere\"\n");
    QVERIFY(loaded.ok());
    QCOMPARE(loaded.recipe.model.dim, int64_t(256));
  }

  void only_the_cause_is_said() {
    QTemporaryDir folder;
    const std::string at = folder.path().toStdString();
    std::ofstream(at + "/config.json") << "{\"model_type\": \"gpt2\"}";
    const auto other = load("checkpoint = \"" + at + "\"\n");
    QCOMPARE(other.faults.size(), size_t(1));
    QCOMPARE(other.faults[0].str(),
             "/home/ada/tiny.toml:2:14: model.checkpoint: " + at +
                 "/config.json: model_type = \"gpt2\" is not supported; valid: \"llama\"");
    const auto absent = load("checkpoint = \"nowhere\"\n");
    QCOMPARE(absent.faults.size(), size_t(1));
    QCOMPARE(absent.faults[0].str(),
             std::string("/home/ada/tiny.toml:2:14: model.checkpoint: there is no "
                         "/home/ada/nowhere; valid: a Hugging Face folder or a checkpoint; "
                         "relative paths start at the recipe's folder"));
  }

  void files_and_sets_too() {
    QTemporaryDir folder;
    const std::string file = folder.filePath("tiny.toml").toStdString();
    std::ofstream(file) << recipe_with("");
    const auto loaded =
        checkpoint::load_recipe_file(file, {"model.checkpoint=\"" + kTiny + "\""}, 1);
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.faults[0].str().c_str());
    QCOMPARE(loaded.recipe.model.n_layers, int64_t(2));
    QCOMPARE(loaded.recipe.hardware.ranks, int64_t(1));
  }
};

QTEST_GUILESS_MAIN(LoadRecipeTest)
#include "load_recipe_test.moc"
