// The meaning of a recipe whose model is its checkpoint's.
#include "engine/checkpoint/load_recipe.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <set>

#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const std::string kTinyLlama = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/llama-tiny";

// Its RoPE is scaled by YaRN: 4 times over 16 positions.
const std::string kYarn = HEDDLE_SOURCE_DIR "/tests/fixtures/shapes/biases-yarn";

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

std::string value_of(const recipe::Recipe& recipe, const std::string& key) {
  for (const auto& [each, value] : recipe::flatten(recipe))
    if (each == key) return value;
  return "";
}

}  // namespace

class LoadRecipeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_checkpoint_names_the_model() {
    const auto loaded = load("checkpoint = \"" + kTinyLlama + "\"\n");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.faults[0].str().c_str());
    QCOMPARE(loaded.recipe.model.dim, int64_t(64));
    QCOMPARE(loaded.recipe.model.n_kv_heads, int64_t(2));
    QCOMPARE(loaded.recipe.model.vocab_size, int64_t(256));
    QCOMPARE(loaded.recipe.model.checkpoint, kTinyLlama);
    // And what follows from the ranks and from the file's folder.
    QCOMPARE(loaded.recipe.parallelism.dp_shard, int64_t(2));
    QCOMPARE(loaded.recipe.data.tokenizer, std::string("/home/ada/tokenizer.json"));
  }

  void what_is_written_stands() {
    const auto loaded =
        load("checkpoint = \"" + kTinyLlama + "\"\nmax_seq_len = 48\nrope_theta = 1e4\n");
    QVERIFY(loaded.ok());
    QCOMPARE(loaded.recipe.model.max_seq_len, int64_t(48));
    QCOMPARE(loaded.recipe.model.rope_theta, 1e4);
    QCOMPARE(loaded.recipe.model.n_layers, int64_t(2));
  }

  // Each key of [model] beside a checkpoint: applied, or refused with the reason. llama-tiny has
  // 64, 2 layers, 4 and 2 heads, 176, 256 tokens, 64 positions, epsilon 1e-5, theta 500000.
  void each_key_is_applied_or_refused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("written");
    QTest::addColumn<QString>("fault");  // empty: the key is valid
    std::set<std::string> tried;
    const auto row = [&](const char* key, const char* written, const char* fault = "") {
      tried.insert(std::string("model.") + key);
      QTest::addRow("%s = %s", key, written) << key << written << fault;
    };
    row("dim", "64");
    row("dim", "128", "128, but F has 64; valid: 64, or without the key");
    row("n_layers", "2");
    row("n_layers", "3", "3, but F has 2; valid: 2, or without the key");
    row("n_heads", "8", "8, but F has 4; valid: 4, or without the key");
    row("n_kv_heads", "4", "4, but F has 2; valid: 2, or without the key");
    row("ffn_dim", "192", "192, but F has 176; valid: 176, or without the key");
    row("vocab_size", "512", "512, but F has 256; valid: 256, or without the key");
    row("vocab_size", "0");
    row("tied_embeddings", "false");
    row("tied_embeddings", "true", "true, but F has false; valid: false, or without the key");
    row("head_dim", "0");
    row("head_dim", "32", "32, but F has 16; valid: 16, or without the key");
    row("attention_bias", "true", "true, but F has false; valid: false, or without the key");
    row("qkv_bias", "true", "true, but F has false; valid: false, or without the key");
    row("mlp_bias", "true", "true, but F has false; valid: false, or without the key");
    row("qk_norm", "true", "true, but F has false; valid: false, or without the key");
    row("max_seq_len", "48");
    row("norm_eps", "1e-6");
    row("rope_theta", "10000.0");
    row("rope_scaling",
        "{ factor = 4.0, low_freq_factor = 1.0, high_freq_factor = 4.0, original_max_position = 16 "
        "}");
    row("rope_scaling", "false");
    row("rope_scaling", "{ type = \"linear\", factor = 2.0 }");
    row("rope_scaling",
        "{ type = \"yarn\", factor = 4.0, beta_fast = 32.0, beta_slow = 1.0, attention_factor = "
        "0.0, "
        "original_max_position = 16, truncate = true }");
    row("preset", "\"llama3-debug\"",
        "llama3-debug has dim 256, but F has 64; valid: no preset beside a checkpoint, or one of "
        "its sizes");
    for (const recipe::KeyInfo& info : recipe::keys())
      if (info.key.starts_with("model.") && info.key != "model.checkpoint" &&
          !tried.contains(info.key))
        QFAIL(("not in this table: " + info.key).c_str());
  }
  void each_key_is_applied_or_refused() {
    QFETCH(QString, key);
    QFETCH(QString, written);
    QFETCH(QString, fault);
    const auto loaded = load(QString("checkpoint = \"%1\"\n%2 = %3\n")
                                 .arg(kTinyLlama.c_str(), key, written)
                                 .toStdString());
    const std::string full = "model." + key.toStdString();
    if (fault.isEmpty()) {
      QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.faults[0].str().c_str());
      QCOMPARE(value_of(loaded.recipe, full), written.toStdString());
      // And what is not written stays the checkpoint's.
      recipe::Recipe known;
      known.model = *checkpoint::model_at(kTinyLlama);
      for (const auto& [other, value] : recipe::flatten(known))
        if (other.starts_with("model.") && other != full && other != "model.checkpoint")
          QCOMPARE(other + " = " + value_of(loaded.recipe, other), other + " = " + value);
      return;
    }
    QVERIFY(!loaded.faults.empty());
    QCOMPARE(
        QString::fromStdString(loaded.faults[0].str()).replace(kTinyLlama.c_str(), "F"),
        QString("/home/ada/tiny.toml:3:%1: %2: %3").arg(key.size() + 4).arg(full.c_str(), fault));
  }

  // As ranks are handed it: what equals a default is not lost on the way.
  void what_overrides_survives_the_text() {
    const auto loaded =
        load("checkpoint = \"" + kYarn + "\"\nrope_scaling = false\nmax_seq_len = " +
             std::to_string(recipe::Model().max_seq_len) + "\n");
    const std::string text = recipe::to_toml(loaded.recipe);
    const auto again = checkpoint::load_recipe(text, "/home/ada/again.toml");
    QVERIFY2(again.ok(), again.ok() ? "" : again.faults[0].str().c_str());
    QVERIFY(!again.recipe.model.rope_scaling);
    QCOMPARE(again.recipe.model.max_seq_len, recipe::Model().max_seq_len);
    QVERIFY(again.recipe == loaded.recipe);
  }

  void a_scaling_in_part_takes_the_rest() {
    const auto loaded = load("checkpoint = \"" + kYarn + "\"\nrope_scaling = { factor = 2.0 }\n");
    QVERIFY(loaded.ok());
    QCOMPARE(loaded.recipe.model.rope_scaling->factor, 2.0);
    QVERIFY(loaded.recipe.model.rope_scaling->type == recipe::RopeType::yarn);
    QCOMPARE(loaded.recipe.model.rope_scaling->original_max_position, int64_t(16));
    QCOMPARE(loaded.recipe.model.rope_scaling->beta_fast, 4.0);
  }

  void what_overrides_is_told() {
    const auto loaded =
        load("checkpoint = \"" + kTinyLlama + "\"\nrope_theta = 1e4\nmax_seq_len = 48\n");
    const auto told = checkpoint::overridden(loaded.recipe.model);
    QVERIFY(told.has_value());
    const std::vector<std::string> expected = {"model.max_seq_len is 48, there 64",
                                               "model.rope_theta is 10000.0, there 500000.0"};
    QVERIFY(*told == expected);
    QVERIFY(checkpoint::overridden(load("checkpoint = \"" + kTinyLlama + "\"\n").recipe.model)
                ->empty());
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
    QCOMPARE(other.faults[0].str(), "/home/ada/tiny.toml:2:14: model.checkpoint: " + at +
                                        "/config.json: model_type = \"gpt2\" is not supported; "
                                        "valid: \"llama\", \"mistral\", \"qwen2\" or \"qwen3\"");
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
        checkpoint::load_recipe_file(file, {"model.checkpoint=\"" + kTinyLlama + "\""}, 1);
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.faults[0].str().c_str());
    QCOMPARE(loaded.recipe.model.n_layers, int64_t(2));
    QCOMPARE(loaded.recipe.hardware.ranks, int64_t(1));
  }
};

HEDDLE_TEST(LoadRecipeTest)
#include "load_recipe_test.moc"
