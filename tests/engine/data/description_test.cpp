// The description of a recipe's data before it is tokenized, and after: equal where it is counted.
#include "engine/data/description.h"

#include <zlib.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/data/corpus.h"
#include "engine/data/description_json.h"
#include "engine/data/text_loader.h"
#include "engine/data/tokenizer.h"
#include "engine/recipe/parse.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

namespace recipe = heddle::recipe;
using namespace heddle::data;
using heddle::test::read_text;

namespace {

const std::string kTokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
const std::string kShakespeare = HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt";

}  // namespace

class DescriptionTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

  std::string put(const char* name, const std::string& text) const {
    std::ofstream(at(name)) << text;
    return at(name);
  }

  /// 100 steps of 8 sequences of 64 tokens, each test's tokens in a cache of its own.
  recipe::Recipe recipe_of(const std::string& data, const char* cache) const {
    const std::string text =
        "[model]\ndim = 16\nn_layers = 1\nn_heads = 2\nffn_dim = 32\n[data]\n" + data +
        "\ntokenizer = \"" + kTokenizer + "\"\ncache = \"" + at(cache) +
        "\"\nseq_len = 64\n[training]\nsteps = 100\nglobal_batch = 8\n";
    const recipe::Parsed parsed = recipe::resolve(recipe::parse(text, "recipe.toml"));
    for (const recipe::Fault& fault : parsed.faults) qFatal("%s", fault.str().c_str());
    return parsed.recipe;
  }

  static Description told(const recipe::Recipe& recipe) {
    const auto description = describe(recipe);
    if (!description) qFatal("%s", description.error().message.c_str());
    return *description;
  }

  /// A document a line; `packed`: as gzip.
  std::string put_lines(const char* name, int documents, bool packed) const {
    std::string lines;
    for (int i = 0; i < documents; ++i)
      lines += nlohmann::json{{"text", "Document " + std::to_string(i * 7919) +
                                           " speaks of the loom, its warp and its weft."}}
                   .dump() +
               "\n";
    if (!packed) return put(name, lines);
    gzFile file = gzopen(at(name).c_str(), "wb");
    gzwrite(file, lines.data(), static_cast<unsigned>(lines.size()));
    gzclose(file);
    return at(name);
  }

 private Q_SLOTS:
  void a_small_text_is_counted_without_a_store() {
    const auto recipe = recipe_of("text = [\"" + kShakespeare + "\"]", "cold");
    const Description cold = told(recipe);
    QVERIFY(!QFile::exists(folder_.filePath("cold")));  // nothing was made
    QCOMPARE(cold.sources.size(), size_t{1});
    QCOMPARE(cold.sources[0].name, std::string("tinyshakespeare.txt"));
    QVERIFY(cold.known() == Known::counted);
    QVERIFY(!cold.first_of_run);
    QVERIFY(tokenize_corpus(recipe, {}));
    const Description warm = told(recipe);
    QCOMPARE(cold.tokens(), warm.tokens());
    QCOMPARE(cold.documents(), warm.documents());
    QCOMPARE(warm.documents(), std::optional<int64_t>(1));
    QCOMPARE(warm.run_tokens, int64_t{100 * 8 * 64});
    QCOMPARE(warm.epochs(), 100.0 * 8 * 64 / static_cast<double>(warm.tokens()));
    QVERIFY(warm.first_of_run);
    QCOMPARE(warm.samples.size(), size_t{3});
  }

  void says_what_parts_documents() {
    auto recipe = recipe_of("text = [\"" + kShakespeare + "\"]", "parts");
    QCOMPARE(told(recipe).parting,
             std::string("Each document begins with <|begin_of_text|> and ends with "
                         "<|end_of_text|>."));
    QVERIFY(told(recipe).notes.empty());
    recipe.data.bos = "none";
    QCOMPARE(told(recipe).parting, std::string("Each document ends with <|end_of_text|>."));
    recipe.data.eos = "none";
    const Description description = description_from(to_json(told(recipe)));
    QCOMPARE(description.parting, std::string());
    QCOMPARE(description.notes,
             std::vector<std::string>{"Nothing parts documents: neither the tokenizer's files nor "
                                      "data.bos and data.eos name a token for it."});
  }

  void what_is_left_out_and_too_little_is_said() {
    QVERIFY(QDir(folder_.path()).mkpath("few/.hidden"));
    put("few/a.txt", "To be, or not to be: that is the question. " + std::string(300, 'x'));
    put("few/notes.md", "none");
    const Description few = told(recipe_of("text = [\"" + at("few") + "\"]", "few cache"));
    QCOMPARE(few.notes.size(), size_t{2});
    QVERIFY2(few.notes[0].find("few: left out: 1 of another kind: notes.md") != std::string::npos &&
                 few.notes[0].find("; 1 hidden, read where named: .hidden") != std::string::npos,
             few.notes[0].c_str());
    QVERIFY2(few.notes[1].find(", fewer than the 8 that a step reads (training.global_batch)") !=
                 std::string::npos,
             few.notes[1].c_str());
    QCOMPARE(description_from(to_json(few)).notes, few.notes);
    QVERIFY(told(recipe_of("text = [\"" + kShakespeare + "\"]", "many")).notes.empty());
  }

  void a_text_of_chats_is_named() {
    put("chats.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}\n");
    const auto described = describe(recipe_of("text = [\"" + at("chats.jsonl") + "\"]", "chats"));
    QVERIFY(!described);
    QVERIFY2(described.error().message.find(
                 "chats.jsonl:1: a chat (a list of messages in \"messages\"), which cannot be "
                 "trained on yet") != std::string::npos,
             described.error().message.c_str());
  }

  void ids_out_of_range_are_said_before_training() {
    std::vector<uint16_t> ids(100'000);
    ids.back() = 5000;
    put("ids.u16", std::string(reinterpret_cast<const char*>(ids.data()), ids.size() * 2));
    const auto described = describe(recipe_of("token_ids = \"" + at("ids.u16") + "\"", "ids"));
    QVERIFY(!described);
    QVERIFY2(described.error().message.find(
                 "ids.u16: holds 5000 (token 99999); valid: 0 to 4095") != std::string::npos,
             described.error().message.c_str());
  }

  void samples_are_what_the_first_step_reads() {
    const auto recipe = recipe_of("text = [\"" + put_lines("few.jsonl", 400, false) + "\"]", "few");
    QVERIFY(tokenize_corpus(recipe, {}));
    const Description warm = told(recipe);
    const auto loader = DataLoader::open(recipe.data, recipe.training, 4096);
    QVERIFY(loader);
    const auto tokenizer = Tokenizer::load(kTokenizer);
    for (int64_t i = 0; i < 3; ++i) {
      const auto batch = loader->next(0, 0, i / recipe.training.local_batch, 4);
      QVERIFY(batch);
      const auto begin = batch->tokens.begin() + i % recipe.training.local_batch * 64;
      const std::vector<int32_t> ids(begin, begin + 64);
      const DescribedSample& sample = warm.samples[static_cast<size_t>(i)];
      std::string text;
      for (const std::string& document : sample.documents) text += document;
      QCOMPARE(text, tokenizer->decode(ids));
      QVERIFY(sample.documents.size() > 1);
      // A document begins where the one before has ended.
      for (size_t d = 1; d < sample.documents.size(); ++d)
        QVERIFY2(sample.documents[d].starts_with("<|begin_of_text|>Document"),
                 sample.documents[d].c_str());
    }
  }

  void a_large_text_is_guessed_by_its_first_part_data() {
    QTest::addColumn<bool>("packed");
    QTest::newRow("lines") << false;
    QTest::newRow("packed lines") << true;
  }

  void a_large_text_is_guessed_by_its_first_part() {
    QFETCH(bool, packed);
    const char* name = packed ? "many.jsonl.gz" : "many.jsonl";
    constexpr int kDocuments = 120'000;  // 9 MB
    const auto recipe = recipe_of("text = [\"" + put_lines(name, kDocuments, packed) + "\"]",
                                  packed ? "packed" : "lines");
    const Description cold = told(recipe);
    QVERIFY(cold.known() == Known::guessed);
    QVERIFY(tokenize_corpus(recipe, {}));
    const Description warm = told(recipe);
    QVERIFY(warm.known() == Known::counted);
    QCOMPARE(warm.documents(), std::optional<int64_t>(kDocuments));
    const auto off = [](int64_t guess, int64_t count) {
      return std::abs(static_cast<double>(guess) / static_cast<double>(count) - 1);
    };
    qInfo("guessed: tokens %.1f %%, documents %.1f %% off", 100 * off(cold.tokens(), warm.tokens()),
          100 * off(*cold.documents(), kDocuments));
    QVERIFY(off(cold.tokens(), warm.tokens()) < 0.15);
    QVERIFY(off(*cold.documents(), kDocuments) < 0.15);
  }

  void of_a_mix_each_part_is_told() {
    const auto recipe =
        recipe_of("mix = [{ text = [\"" + kShakespeare + "\"], weight = 3 }, { text = [\"" +
                      put_lines("part.jsonl", 900, false) + "\"], weight = 1 }]",
                  "mix");
    for (const bool warm : {false, true}) {
      const Description mix = told(recipe);
      QCOMPARE(mix.sources.size(), size_t{2});
      QCOMPARE(mix.sources[0].share, 0.75);
      QCOMPARE(mix.sources[1].name, std::string("part.jsonl"));
      QCOMPARE(mix.sources[1].documents, std::optional<int64_t>(900));
      for (const DescribedSource& source : mix.sources)
        QCOMPARE(source.epochs, source.share * 100 * 8 * 64 / static_cast<double>(source.tokens));
      QCOMPARE(mix.first_of_run, warm);
      if (!warm) QCOMPARE(mix.samples[1].source, size_t{1});
      if (!warm) QVERIFY(tokenize_corpus(recipe, {}));
    }
  }

  void some_documents_are_asked_for() {
    const auto recipe = recipe_of(
        "max_documents = 50\ntext = [\"" + put_lines("first.jsonl", 400, false) + "\"]", "first");
    const Description cold = told(recipe);
    QVERIFY(tokenize_corpus(recipe, {}));
    const Description warm = told(recipe);
    QCOMPARE(cold.documents(), std::optional<int64_t>(50));
    QCOMPARE(cold.tokens(), warm.tokens());
    QCOMPARE(warm.documents(), cold.documents());
  }

  void what_cannot_be_read_is_shown() {
    std::string lines = read_text(put_lines("bad.jsonl", 400, false));
    put("bad.jsonl", lines + "{\"txt\": 1}\n");
    const Description cold = told(recipe_of("text = [\"" + at("bad.jsonl") + "\"]", "bad"));
    QCOMPARE(cold.sources[0].skipped, int64_t{1});
    QVERIFY2(cold.sources[0].complaints.at(0).find("bad.jsonl:401: ") != std::string::npos,
             cold.sources[0].complaints[0].c_str());
  }

  void what_is_wrong_is_said_with_its_key_data() {
    QTest::addColumn<QString>("data");
    QTest::addColumn<QString>("says");
    QTest::newRow("no such file") << "text = [\"/nowhere/a.txt\"]"
                                  << "data.text: /nowhere/a.txt: no such file or folder";
    QTest::newRow("of a mix") << "mix = [{ text = [\"/nowhere/a.txt\"] }]"
                              << "data.mix: /nowhere/a.txt: no such file or folder";
    QTest::newRow("too short") << "text = [\"%1/short.txt\"]"
                               << "data.text: 3 tokens, but one sample of data.seq_len 64 needs 65";
  }

  void what_is_wrong_is_said_with_its_key() {
    QFETCH(QString, data);
    QFETCH(QString, says);
    put("short.txt", "a");
    const QString filled = data.contains("%1") ? data.arg(folder_.path()) : data;
    const auto described = describe(recipe_of(filled.toStdString(), "wrong"));
    QVERIFY(!described);
    QVERIFY2(described.error().message.starts_with(says.toStdString()),
             described.error().message.c_str());
  }

  void a_file_of_tokens_is_counted() {
    std::string ids;
    for (uint16_t id = 0; id < 4000; ++id) ids.append(reinterpret_cast<const char*>(&id), 2);
    const auto recipe = recipe_of("token_ids = \"" + put("ids.u16", ids) + "\"", "ids");
    const Description file = told(recipe);
    QCOMPARE(file.tokens(), int64_t{4000});
    QVERIFY(file.known() == Known::counted);
    QVERIFY(!file.documents());
    QCOMPARE(file.samples.size(), size_t{3});
  }

  void json_says_all_of_it() {
    const Description told_here = told(recipe_of("text = [\"" + kShakespeare + "\"]", "json"));
    const nlohmann::json json = nlohmann::json::parse(to_json(told_here).dump());
    QCOMPARE(to_json(description_from(json)).dump(), to_json(told_here).dump());
  }
};

HEDDLE_TEST(DescriptionTest)
#include "description_test.moc"
