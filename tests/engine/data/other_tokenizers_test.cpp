// Tokenizers with normal forms, as Qwen's, and with byte fallback, as Llama 2's, against Hugging
// Face's tokenizers: the ids of nasty texts, and what they decode to.
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/data/export_tokenizer.h"
#include "engine/data/tokenizer.h"
#include "tests/support/test_class.h"

using heddle::data::Tokenizer;
using nlohmann::json;
using Ids = std::vector<int32_t>;

namespace {

json read_fixture(const std::string& name) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/tests/fixtures/tokenizers/" + name);
  return json::parse(file);
}

Tokenizer tokenizer_of(const json& file) {
  auto parsed = Tokenizer::parse(file.dump(), "test.json");
  if (!parsed) qFatal("%s", parsed.error().message.c_str());
  return std::move(*parsed);
}

QString error_of_text(const std::string& text) {
  const auto parsed = Tokenizer::parse(text, "F");
  return parsed ? "" : QString::fromStdString(parsed.error().message);
}

}  // namespace

class OtherTokenizersTest : public QObject {
  Q_OBJECT

  json variants_;

 private Q_SLOTS:
  void gives_the_ids_of_hugging_face_and_the_text_back_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("NFC over bytes") << "nfc_bytes";
    QTest::newRow("byte fallback") << "byte_fallback";
  }
  void gives_the_ids_of_hugging_face_and_the_text_back() {
    QFETCH(QString, name);
    const json file = read_fixture(name.toStdString() + ".json"),
               groups = read_fixture(name.toStdString() + "_cases.json");
    QVERIFY(groups.at(0)["cases"].size() >= 300);
    for (const json& group : groups) {
      json patched = file;
      patched.update(group["patch"]);
      Tokenizer tokenizer = tokenizer_of(patched);
      for (const json& one : group["cases"]) {
        const auto text = one[0].get<std::string>();
        const std::string what = group["patch"].dump() + ": " + one[0].dump();
        const Ids ids = tokenizer.encode(text).value();
        QVERIFY2(ids == one[1].get<Ids>(), (what + " gives " + json(ids).dump()).c_str());
        const std::string back = tokenizer.decode(ids);
        QVERIFY2(back == (one.size() > 2 ? one[2] : one[0]).get<std::string>(), what.c_str());
      }
    }
  }

  void variants_give_the_ids_of_hugging_face_data() {
    QTest::addColumn<int>("tokenizer");
    QTest::addColumn<int>("variant");
    variants_ = read_fixture("variants.json");
    for (size_t i = 0; i < variants_["tokenizers"].size(); ++i) {
      const json& variants = variants_["tokenizers"][i]["variants"];
      for (size_t j = 0; j < variants.size(); ++j)
        QTest::newRow(variants[j]["name"].get<std::string>().c_str())
            << static_cast<int>(i) << static_cast<int>(j);
    }
  }
  void variants_give_the_ids_of_hugging_face() {
    QFETCH(int, tokenizer);
    QFETCH(int, variant);
    const json& base = variants_["tokenizers"][static_cast<size_t>(tokenizer)];
    const json& changed = base["variants"][static_cast<size_t>(variant)];
    json file = base["file"];
    for (const auto& [member, value] : changed["patch"].items())
      if (member == "model")
        file[member].merge_patch(value);
      else
        file[member] = value;
    Tokenizer made = tokenizer_of(file);
    for (size_t i = 0; i < variants_["texts"].size(); ++i) {
      const json& text = variants_["texts"][i];
      const Ids ids = made.encode(text.get<std::string>()).value();
      QVERIFY2(ids == changed["ids"][i].get<Ids>(),
               (text.dump() + " gives " + json(ids).dump()).c_str());
    }
  }

  void bytes_that_are_not_utf8_come_back() {
    for (const char* name : {"nfc_bytes.json", "byte_fallback.json"}) {
      Tokenizer tokenizer = tokenizer_of(read_fixture(name));
      for (const std::string bytes : {"a\x80z", "caf\xC3", "\xF4\x90\x80\x80 \xFF\xFE", " \xFFz "})
        QCOMPARE(tokenizer.decode(tokenizer.encode(bytes).value()), bytes);
    }
  }

  void long_texts_take_no_quadratic_time() {
    Tokenizer tokenizer = tokenizer_of(read_fixture("byte_fallback.json"));
    std::string text;
    while (text.size() < 1'000'000) text += "the words of a long line ";
    text += "x";
    QVERIFY(tokenizer.decode(tokenizer.encode(text).value()) == text);
  }

  void knows_where_texts_begin() {
    const Tokenizer tokenizer = tokenizer_of(read_fixture("byte_fallback.json"));
    QCOMPARE(tokenizer.bos_id(), 1);
    QCOMPARE(tokenizer.eos_id(), 2);
    QCOMPARE(tokenizer.vocab_size(), 863);
  }

  void goes_with_exported_weights() {
    const QTemporaryDir folder;
    const std::string to = folder.path().toStdString(),
                      from = HEDDLE_SOURCE_DIR "/tests/fixtures/tokenizers/byte_fallback.json";
    const auto tokenizer = Tokenizer::load(from);
    QVERIFY(heddle::data::export_tokenizer(
                from, *tokenizer,
                {.bos = tokenizer->bos_id(), .eos = tokenizer->eos_id(), .pad = {}}, 4096, "", to)
                .has_value());
    std::ifstream file(to + "/tokenizer.json"), config_file(to + "/tokenizer_config.json"),
        special_file(to + "/special_tokens_map.json");
    QVERIFY(json::parse(file) == read_fixture("byte_fallback.json"));
    const json config = json::parse(config_file);
    QCOMPARE(config["tokenizer_class"], "PreTrainedTokenizerFast");
    QCOMPARE(config["model_max_length"], 4096);
    QCOMPARE(config["bos_token"], "<s>");
    QVERIFY(json::parse(special_file) == json({{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  }

  void refusals_say_what_the_file_is_data() {
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* patch, const char* error) {
      QTest::newRow(patch) << patch << error;
    };
    row(R"({"model": {"type": "Unigram"}})",
        "model: type \"Unigram\" (SentencePiece's, of T5, XLNet, ALBERT …) is not supported; "
        "valid: "
        "\"BPE\", \"WordLevel\"");
    row(R"({"model": {"type": "WordPiece"}})",
        "model: type \"WordPiece\" (of BERT) is not supported; valid: \"BPE\", \"WordLevel\"");
    row(R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}})",
        "pre_tokenizer: Metaspace: replacement \"_\" is not supported; valid: \"▁\"");
    row(R"({"decoder": {"type": "WordPiece", "decoders": null}})",
        "decoder: type \"WordPiece\" is not supported; valid: null, Metaspace, BPEDecoder, or a "
        "Sequence of Replace, ByteFallback, Fuse, Strip");
  }
  void refusals_say_what_the_file_is() {
    QFETCH(QString, patch);
    QFETCH(QString, error);
    json file = read_fixture("byte_fallback.json");
    file.merge_patch(json::parse(patch.toStdString()));
    QCOMPARE(error_of_text(file.dump()), "F: " + error);
  }

  void other_files_of_a_model_are_known() {
    QCOMPARE(error_of_text("\n\x0e\n\x05<unk>\x15"),
             QString("F: this is a SentencePiece model (tokenizer.model); valid: a tokenizer.json, "
                     "as AutoTokenizer.from_pretrained(…).save_pretrained writes it"));
    QCOMPARE(error_of_text(R"({"tokenizer_class": "LlamaTokenizer"})"),
             QString("F: this is a tokenizer_config.json; valid: the tokenizer.json beside it"));
    QCOMPARE(error_of_text(R"({"model_type": "llama"})"),
             QString("F: this is a model's config.json; valid: the tokenizer.json beside it"));
    QCOMPARE(error_of_text(R"({"a": 0, "b": 1})"),
             QString("F: this is a vocabulary alone (vocab.json); valid: the tokenizer.json beside "
                     "it"));
  }
};

HEDDLE_TEST(OtherTokenizersTest)
#include "other_tokenizers_test.moc"
