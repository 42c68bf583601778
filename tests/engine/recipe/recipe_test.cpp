// The result of parsing and resolving a sound recipe, and the canonical text.
#include <QDir>
#include <QTest>
#include <fstream>
#include <sstream>

#include "engine/recipe/nearest.h"
#include "engine/recipe/parse.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/units.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

namespace {

std::string read(const char* name) {
  std::ifstream stream(std::string(HEDDLE_SOURCE_DIR "/tests/engine/recipe/sound/") + name);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

const std::string kSmall = read("small.toml");

Recipe sound(const std::string& text, const std::vector<std::string>& sets = {},
             int64_t ranks = 0) {
  const Parsed resolved = resolve(parse(text, "recipe.toml", sets), ranks);
  for (const Fault& fault : resolved.faults) qWarning("%s", fault.str().c_str());
  return resolved.ok() ? resolved.recipe : Recipe{};
}

}  // namespace

class RecipeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_key_is_read() {
    const std::string text = read("every-key.toml");
    const Parsed parsed = parse(text, "recipe.toml");
    QVERIFY(parsed.ok());
    Recipe expected;
    expected.model = {
        "llama3-8b", 512,      4,     8,
        2,           96,       1024,  4096,
        2048,        1e-6,     10000, RopeScaling{RopeType::yarn, 4, 1, 4, 1024, 16, 2, 1.5, false},
        true,        true,     true,  true,
        true,        "weights"};
    expected.data = {{"a.txt", "b/"},
                     {{{"web/"}, 0.75}, {{"c.jsonl", "d.zst"}, 2}},
                     "ids.safetensors",
                     "tokenizer.json",
                     "<s>",
                     "none",
                     "stores/",
                     "body",
                     0.25,
                     1000,
                     0.125,
                     128,
                     true,
                     7};
    expected.training = {10, 4, 64, 1, 0, 1, 3, true};
    expected.validation = {{"held-out.txt"}, 5, 4, "To be", 12, 0.5};
    expected.optimizer = {"adamw", 1e-3, {{"betas", {0.8, 0.9}}, {"eps", {1e-6}}}, 0};
    expected.schedule = {2, Decay::cosine, 0.5, 0.1};
    Parallelism& parallelism = expected.parallelism;
    static_cast<Degrees&>(parallelism) = {
        .pp = 2, .dp_replicate = 2, .dp_shard = 4, .cp = 2, .tp = 2};
    parallelism.dp_shard_states = ShardStates::optimizer;
    parallelism.sequence_parallel = false;
    parallelism.tp_chunks = 2;
    parallelism.async_tp = true;
    parallelism.tp_gather_again = false;
    parallelism.pp_schedule = PipelineSchedule::zero_bubble;
    parallelism.microbatches = 2;
    parallelism.zero_bubble_limit = 3;
    parallelism.stage_layers = {1, 3};
    parallelism.cp_mode = ContextMode::ring;
    expected.wrapping = {WrappingMode::manual,
                         {{"tok_embeddings"}, {"layers.0-3"}, {"norm", "output"}},
                         2,
                         int64_t{3} << 29,
                         ReduceEach::micro_batch};
    expected.recompute = {RecomputeMode::budget, 0.25};
    expected.precision = {
        Precision::bf16, Precision::bf16, Float8::rowwise, {"layers.0", "output"}};
    expected.overrides = {{{"layers.0-1"}, RecomputeMode::full, {}, {}},
                          {{"layers.3"}, {}, {}, {}},
                          {{"norms", "biases"}, {}, 1e-4, 0.0}};
    expected.checkpoint = {false, "out", 3, 1};
    expected.timeouts = {30, 20, 40};
    expected.restart = {5, 1.5};
    expected.telemetry = {1};
    expected.transport = {"host", true};
    expected.nccl = {"eth1", "mlx5_0,mlx5_1", "tree", "ll128", "nvl", "zero", 8388608, "warn"};
    expected.hardware = {"8xh100", 64, "cuda", true};
    QVERIFY(parsed.recipe == expected);
    // Every key of the schema is in that text, so none is left unread.
    for (const KeyInfo& info : keys())
      QVERIFY2(parsed.places.contains(info.key) || !applies(info, expected), info.key.c_str());
    const Recipe again = parse(to_toml(expected), "canonical").recipe;
    QCOMPARE(to_toml(again), to_toml(expected));
    QVERIFY(again == expected);
  }

  void each_optimizer_has_its_keys() {
    const Recipe sgd =
        parse("[optimizer]\nname = \"sgd\"\nmomentum = 0.5\nnesterov = true\n", "sgd.toml").recipe;
    const Optimizer expected{"sgd", 3e-4, {{"momentum", {0.5}}, {"nesterov", {1}}}, 0.1};
    QVERIFY(sgd.optimizer == expected);
    QVERIFY(parse(to_toml(sgd), "canonical").recipe == sgd);
    QStringList names;
    for (const auto& [key, value] : flatten(sgd))
      if (key.starts_with("optimizer.")) names << QString::fromStdString(key + " = " + value);
    QCOMPARE(names, (QStringList{"optimizer.name = \"sgd\"", "optimizer.lr = 3e-4",
                                 "optimizer.momentum = 0.5", "optimizer.nesterov = true",
                                 "optimizer.weight_decay = 0.1"}));
    QStringList differences;
    for (const Change& change : changes(Recipe{}, sgd))
      differences << QString::fromStdString(change.key + ": " + change.before + " → " + change.now);
    QCOMPARE(differences,
             (QStringList{"optimizer.name: \"adamw\" → \"sgd\"", "optimizer.betas: [0.9, 0.95] → ",
                          "optimizer.eps: 1e-8 → ", "optimizer.momentum:  → 0.5",
                          "optimizer.nesterov:  → true"}));
  }

  void defaults_are_those_of_the_design() {
    QVERIFY(parse("", "recipe.toml").recipe == Recipe{});
    QCOMPARE(to_toml(Recipe{}), std::string());
    for (const auto& [key, value] : flatten(Recipe{})) {
      const auto info = std::ranges::find(keys(), key, &KeyInfo::key);
      QVERIFY(info != keys().end());
      QCOMPARE(value, info->fallback);
    }
  }

  void canonical_text_has_only_what_differs() {
    Recipe recipe;
    recipe.model = *preset("llama3-8b");
    recipe.model.n_layers = 16;
    recipe.model.rope_scaling.reset();
    recipe.data.text = {"a \"quoted\"\\ name\n.txt"};
    recipe.optimizer.lr = 3e-3;
    recipe.wrapping.memory_limit = int64_t{60} << 30;
    recipe.wrapping.reshard_after_forward = 0;
    recipe.overrides = {{{"layers.0-7"}, RecomputeMode::full, {}, {}}};
    const std::string text = to_toml(recipe);
    QCOMPARE(text, read("canonical.toml"));
    ;
    QVERIFY(parse(text, "canonical").recipe == recipe);
  }

  void numbers_override_their_preset() {
    const Recipe recipe = sound(kSmall, {"model.preset=llama3-1b", "model.n_layers=2"});
    QCOMPARE(recipe.model.dim, 2048);
    QCOMPARE(recipe.model.n_layers, 2);
    QVERIFY(recipe.model.tied_embeddings);
    QCOMPARE(recipe.model.rope_scaling->factor, 32.0);
    QVERIFY(
        !sound(kSmall, {"model.preset=llama3-8b", "model.rope_scaling=false"}).model.rope_scaling);
    const Recipe partly = sound(kSmall, {"model.preset=llama3-8b", "model.rope_scaling.factor=4"});
    QCOMPARE(partly.model.rope_scaling->factor, 4.0);
    QCOMPARE(partly.model.rope_scaling->original_max_position, 8192);
  }

  void sets_override_the_file_and_each_other() {
    const Recipe recipe = sound(
        kSmall, {"training.steps=7", "training.steps=8", "data.text=[\"other.txt\", \"more\"]",
                 "optimizer.betas=[0.5, 0.6]", "schedule.decay=none", "checkpoint.folder=c4/",
                 "parallelism.pp_schedule=1f1b", "wrapping.memory_limit=2 GiB",
                 "override=[{modules=[\"norm\"], recompute=\"none\"}]"});
    QCOMPARE(recipe.training.steps, 8);
    QCOMPARE(recipe.data.text, (std::vector<std::string>{"other.txt", "more"}));
    QCOMPARE(recipe.optimizer.settings.at("betas")[1], 0.6);
    QVERIFY(recipe.schedule.decay == Decay::none);
    QCOMPARE(recipe.checkpoint.folder, std::string("c4/"));
    QCOMPARE(recipe.wrapping.memory_limit, int64_t{2} << 30);
    QCOMPARE(recipe.overrides.size(), size_t{1});
  }

  void resolving_fills_what_depends_on_ranks() {
    Recipe recipe = sound(kSmall, {"training.local_batch=3"}, 4);
    QCOMPARE(recipe.hardware.ranks, 4);
    QCOMPARE(recipe.parallelism.dp_shard, 4);
    QCOMPARE(recipe.training.global_batch, 12);
    QCOMPARE(recipe.accumulation(), 1);
    recipe =
        sound(kSmall, {"training.global_batch=24", "model.n_heads=8", "model.n_kv_heads=4"}, 3);
    QCOMPARE(recipe.accumulation(), 4);
    recipe = sound(kSmall, {"parallelism.dp_replicate=2", "parallelism.pp=2", "hardware.ranks=8",
                            "training.local_batch=4"});
    QCOMPARE(recipe.parallelism.dp_shard, 2);
    QCOMPARE(recipe.data_parallel_ranks(), 4);
    QCOMPARE(recipe.parallelism.microbatches, 2);
    recipe = sound(
        "[model]\ndim = 8\nn_layers = 1\nn_heads = 2\nffn_dim = 8\n[data]\ntoken_ids = \"a\"");
    QCOMPARE(recipe.model.n_kv_heads, 2);
  }

  void paths_are_relative_to_the_recipe() {
    const std::string folder = HEDDLE_SOURCE_DIR "/resources/recipes";
    const Parsed parsed = parse_file(folder + "/debug.toml");
    QCOMPARE(parsed.recipe.data.text.at(0),
             std::string(HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt"));
    QCOMPARE(parsed.recipe.model.checkpoint, std::string());
    Recipe recipe;
    recipe.data.text = {"/absolute.txt", "c4/", "./x/../a.txt"};
    resolve_paths(recipe, "/home");
    QCOMPARE(recipe.data.text,
             (std::vector<std::string>{"/absolute.txt", "/home/c4/", "/home/a.txt"}));
  }

  void sample_recipes_are_sound_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("ranks");
    QTest::newRow("debug") << "debug" << 2;
    QTest::newRow("shakespeare") << "shakespeare" << 2;
    QTest::newRow("8b") << "llama3-8b-8xh100" << 8;
    QTest::newRow("70b") << "llama3-70b-256xh100" << 256;
    QTest::newRow("405b") << "llama3-405b-512xh100" << 512;
  }

  void sample_recipes_are_sound() {
    QFETCH(QString, name);
    const QString path = QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/%1.toml").arg(name);
    const Parsed resolved = resolve(parse_file(path.toStdString()));
    for (const Fault& fault : resolved.faults) qWarning("%s", fault.str().c_str());
    QVERIFY(resolved.ok());
    QTEST(static_cast<int>(resolved.recipe.hardware.ranks), "ranks");
    QVERIFY(unsupported(resolved).empty());
    QVERIFY(parse(to_toml(resolved.recipe), "canonical").recipe == resolved.recipe);
  }

  void every_sample_is_tested() {
    const QDir folder(HEDDLE_SOURCE_DIR "/resources/recipes");
    QCOMPARE(folder.entryList({"*.toml"}).size(), 5);
  }

  void sizes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("unit") << "60 GiB" << (qint64{60} << 30);
    QTest::newRow("no space") << "512MiB" << (qint64{512} << 20);
    QTest::newRow("fraction") << "1.5 KiB" << qint64{1536};
    QTest::newRow("plain") << "4096" << qint64{4096};
    QTest::newRow("bytes") << "7 B" << qint64{7};
    QTest::newRow("none") << "many" << qint64{-1};
    QTest::newRow("decimal unit") << "60 GB" << qint64{-1};
    QTest::newRow("negative") << "-1 GiB" << qint64{-1};
    QTest::newRow("too large") << "99999999 TiB" << qint64{-1};
    QTest::newRow("no number") << "nan GiB" << qint64{-1};
  }

  void sizes() {
    QFETCH(QString, text);
    QFETCH(qint64, bytes);
    QCOMPARE(qint64{parse_bytes(text.toStdString()).value_or(-1)}, bytes);
    if (bytes >= 0) QCOMPARE(qint64{*parse_bytes(format_bytes(bytes))}, bytes);
  }

  void nearest_words() {
    const std::vector<std::string> words = {"linear", "sqrt", "cosine", "none"};
    QCOMPARE(nearest("cosin", words), std::string("cosine"));
    QCOMPARE(nearest("lienar", words), std::string("linear"));
    QCOMPARE(nearest("exponential", words), std::string());
    QCOMPARE(nearest("", words), std::string());
    QCOMPARE(edit_distance("kitten", "sitting"), size_t{3});
    QCOMPARE(edit_distance("tp", "pt"), size_t{1});
  }
};

HEDDLE_TEST(RecipeTest)
#include "recipe_test.moc"
