// The contents of a tokenizer.json: the parts that are read change the ids as Hugging Face's do,
// all others are refused with the place and what would be right.
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/data/byte_level.h"
#include "engine/data/tokenizer.h"
#include "tests/support/test_class.h"

using heddle::data::Tokenizer;
using nlohmann::json;

namespace {

/// The smallest tokenizer: bytes (id = byte), the merges "a b" → 256, "ab c" → 257 and "Ġ a" → 258,
/// the word "xyz" (259) that no merge gives, no splitting.
json smallest() {
  json vocab;
  for (int byte = 0; byte < 256; ++byte)
    vocab[heddle::data::spelling_of_byte(static_cast<unsigned char>(byte))] = byte;
  vocab["ab"] = 256;
  vocab["abc"] = 257;
  vocab["Ġa"] = 258;
  vocab["xyz"] = 259;
  return {
      {"added_tokens", json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b", "ab c", "Ġ a"}}}}};
}

json added(int id, const std::string& content, const std::string& true_flag = "") {
  json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", false}};
  if (!true_flag.empty()) token[true_flag] = true;
  return token;
}

/// The encoding as tokens set apart by "|": "ab|c".
QString pieces(const json& file, std::string_view text) {
  auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
  if (!tokenizer) return QString::fromStdString(tokenizer.error().message);
  const std::vector<int32_t> ids = tokenizer->encode(text).value();
  std::string joined;
  for (const int32_t id : ids) {
    if (!joined.empty()) joined += "|";
    joined += *tokenizer->token_of(id);
  }
  return QString::fromStdString(joined);
}

std::string error_of(const std::string& file) {
  const auto tokenizer = Tokenizer::parse(file, "test.json");
  return tokenizer ? "" : tokenizer.error().message;
}

json with_split(const std::string& expression) {
  json file = smallest();
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  return file;
}

}  // namespace

class TokenizerFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void merges_in_both_forms() {
    json file = smallest();
    QCOMPARE(pieces(file, "abcab"), QString("abc|ab"));
    file["model"]["merges"] = json::parse(R"([["a", "b"], ["ab", "c"], ["Ġ", "a"]])");
    QCOMPARE(pieces(file, "abcab"), QString("abc|ab"));
  }

  void merges_by_rank_then_from_the_left() {
    json file = smallest();
    QCOMPARE(pieces(file, " ab"), QString("Ġ|ab"));
    file["model"]["merges"] = {"Ġ a", "a b"};
    QCOMPARE(pieces(file, " ab"), QString("Ġa|b"));
    file["model"]["vocab"]["aa"] = 260;
    file["model"]["merges"] = {"a a"};
    QCOMPARE(pieces(file, "aaa"), QString("aa|a"));
  }

  void whole_words_only_with_ignore_merges() {
    json file = smallest();
    QCOMPARE(pieces(file, "xyz"), QString("x|y|z"));
    file["model"]["ignore_merges"] = true;
    QCOMPARE(pieces(file, "xyz"), QString("xyz"));
    QCOMPARE(pieces(file, "xyzx"), QString("x|y|z|x"));
  }

  void splits_isolate_matches_and_gaps() {
    QCOMPARE(pieces(with_split("b"), "abc"), QString("a|b|c"));
    QCOMPARE(pieces(with_split("c+"), "abccab"), QString("ab|c|c|ab"));
    QCOMPARE(pieces(with_split("z*"), "abc"), QString("a|b|c"));  // empty matches split, too
    QCOMPARE(pieces(with_split("^ab"), "ab\nabc"), QString("ab|Ċ|ab|c"));  // ^: each line
  }

  void split_by_a_literal() {
    json file = with_split("");
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", "b"}};
    QCOMPARE(pieces(file, "abc"), QString("a|b|c"));
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", "."}};
    QCOMPARE(pieces(file, "abc"), QString("abc"));
  }

  void mongolian_vowel_separator_is_no_space() {
    json file = with_split("\\S+");
    file["model"]["vocab"]["a\u00e1"] = 260;  // a, then U+180E's first byte
    file["model"]["merges"] = {"a \u00e1"};
    QCOMPARE(pieces(file, "a\u180e").left(2), QString("a\u00e1"));
  }

  void gpt2s_expression() {
    json file = smallest();
    file["pre_tokenizer"]["use_regex"] = true;
    QCOMPARE(pieces(file, "ab ab"), QString("ab|Ġ|ab"));
    QCOMPARE(pieces(file, "a'sb"), QString("a|'|s|b"));
    file["model"]["merges"] = {"b c"};
    file["model"]["vocab"]["bc"] = 260;
    QCOMPARE(pieces(file, "b1c bc"), QString("b|1|c|Ġ|bc"));
  }

  void prefix_space() {
    json file = smallest();
    file["pre_tokenizer"]["add_prefix_space"] = true;
    QCOMPARE(pieces(file, "ac"), QString("Ġa|c"));
    QCOMPARE(pieces(file, " ac"), QString("Ġa|c"));
    QCOMPARE(pieces(file, ""), QString(""));
  }

  void digits() {
    json file = with_split("");
    json& digits = file["pre_tokenizer"]["pretokenizers"][0];
    file["model"]["vocab"]["11"] = 260;
    file["model"]["merges"] = {"1 1"};
    digits = {{"type", "Digits"}, {"individual_digits", true}};
    QCOMPARE(pieces(file, "a11"), QString("a|1|1"));
    digits["individual_digits"] = false;
    QCOMPARE(pieces(file, "a11"), QString("a|11"));
  }

  void longest_added_token_from_the_left() {
    json file = smallest();
    file["added_tokens"] = {added(300, "<s>"), added(301, "<s><s>"), added(302, "s><")};
    QCOMPARE(pieces(file, "a<s><s><s>b"), QString("a|<s><s>|<s>|b"));
    QCOMPARE(pieces(file, "s><s>"), QString("s><|s|>"));
  }

  void added_tokens_are_found_before_normalized_ones() {
    json file = smallest();
    file["added_tokens"] = {added(300, "ab", "normalized"), added(301, "bc")};
    QCOMPARE(pieces(file, "abc"), QString("a|bc"));
    QCOMPARE(pieces(file, "ab"), QString("ab"));
  }

  void added_token_as_a_single_word() {
    json file = smallest();
    file["added_tokens"] = {added(300, "yes", "single_word")};
    QCOMPARE(pieces(file, "yes"), QString("yes"));
    QCOMPARE(pieces(file, "(yes)"), QString("(|yes|)"));
    QCOMPARE(pieces(file, "yess"), QString("y|e|s|s"));
    QCOMPARE(pieces(file, "_yes"), QString("_|y|e|s"));
    QCOMPARE(pieces(file, "éyes"), QString("Ã|©|y|e|s"));
  }

  void added_token_takes_white_space() {
    json file = smallest();
    file["added_tokens"] = {added(300, "<l>", "lstrip"), added(301, "<r>", "rstrip")};
    QCOMPARE(pieces(file, "a \t<l> a"), QString("a|<l>|Ġa"));
    QCOMPARE(pieces(file, "a<r> \u3000\na"), QString("a|<r>|a"));
    QCOMPARE(pieces(file, "<r>  <l>"), QString("<r>|<l>"));
  }

  void spelling_of_added_tokens_is_their_text() {
    json file = smallest();
    file["added_tokens"] = {added(260, "Ġé")};
    const auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
    QCOMPARE(tokenizer->decode(std::vector<int32_t>{260}), std::string("Ġé"));
    QCOMPARE(tokenizer->vocab_size(), 261);
    QVERIFY(!tokenizer->token_of(261));
  }

  void document_tokens() {
    json file = smallest();
    QVERIFY(!Tokenizer::parse(file.dump(), "")->bos_id());
    file["added_tokens"] = {added(260, "<s>"), added(261, "</s>"), added(262, "[B]"),
                            added(263, "[E]")};
    QCOMPARE(Tokenizer::parse(file.dump(), "")->bos_id(), 260);
    QCOMPARE(Tokenizer::parse(file.dump(), "")->eos_id(), 261);
    file["post_processor"] = json::parse(R"({"type": "Sequence", "processors": [
      {"type": "ByteLevel"},
      {"type": "TemplateProcessing",
       "single": [{"SpecialToken": {"id": "[B]"}}, {"Sequence": {"id": "A"}},
                  {"SpecialToken": {"id": "[E]"}}],
       "special_tokens": {"[B]": {"ids": [262]}, "[E]": {"ids": [263]}}}]})");
    QCOMPARE(Tokenizer::parse(file.dump(), "")->bos_id(), 262);
    QCOMPARE(Tokenizer::parse(file.dump(), "")->eos_id(), 263);
  }

  void tokens_that_other_files_name_data() {
    QTest::addColumn<QString>("files");
    QTest::addColumn<QString>("expected");  // bos, eos, pad: before document after; warnings
    const auto row = [](const char* name, const char* files, const char* expected) {
      QTest::newRow(name) << files << expected;
    };
    row("nothing", "{}", "- <|endoftext|> -: document <|endoftext|>; ");
    row("Qwen 2",
        R"({"tokenizer_config": {"bos_token": null, "eos_token": "<|endoftext|>",
            "pad_token": "<|endoftext|>", "add_bos_token": false},
            "config": {"bos_token_id": 300, "eos_token_id": 300}})",
        "- <|endoftext|> <|endoftext|>: document <|endoftext|>; ");
    row("GPT-2",
        R"({"tokenizer_config": {"bos_token": {"content": "<|endoftext|>", "lstrip": false},
            "eos_token": {"content": "<|endoftext|>"}}})",
        "<|endoftext|> <|endoftext|> -: document <|endoftext|>; ");
    row("GPT-2 that begins texts",
        R"({"tokenizer_config": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>",
            "add_bos_token": true}})",
        "<|endoftext|> <|endoftext|> -: <|endoftext|> document; ");
    row("nanochat, minimind",
        R"({"tokenizer_config": {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}})",
        "<|im_start|> <|im_end|> -: <|im_start|> document <|im_end|>; ");
    row("SmolLM 2",
        R"({"tokenizer_config": {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>",
            "tokenizer_class": "GPT2Tokenizer"}})",
        "<|im_start|> <|im_end|> -: document <|im_end|>; ");
    row("nothing but bos",
        R"({"tokenizer_config": {"bos_token": "<|im_start|>", "eos_token": null,
            "add_bos_token": false}})",
        "<|im_start|> - -: <|im_start|> document; ");
    row("a map of tokens", R"({"special_tokens_map": {"eos_token": "<|im_end|>"}})",
        "- <|im_end|> -: document <|im_end|>; ");
    row("the first file holds",
        R"({"tokenizer_config": {"eos_token": "<|im_end|>"},
            "special_tokens_map": {"eos_token": "<|im_start|>", "pad_token": "<|im_start|>"}})",
        "- <|im_end|> <|im_start|>: document <|im_end|>; ");
    row("ids",
        R"({"generation_config": {"eos_token_id": [302, 300], "pad_token_id": -1},
            "config": {"bos_token_id": 301, "eos_token_id": 300, "pad_token_id": 300}})",
        "<|im_start|> <|im_end|> -: <|im_start|> document <|im_end|>; ");
    row("none", R"({"tokenizer_config": {"bos_token": null, "eos_token": null}})",
        "- - -: document; ");
    row("a token that is not there", R"({"tokenizer_config": {"eos_token": "<eos>"}})",
        "- <|endoftext|> -: document <|endoftext|>; tokenizer_config.json: eos_token is \"<eos>\", "
        "which the tokenizer lacks: it is not used");
    row("no JSON", R"({"tokenizer_config": "text"})",
        "- <|endoftext|> -: document <|endoftext|>; F/tokenizer_config.json: is no object: what it "
        "says of special tokens is not used");
  }
  void tokens_that_other_files_name() {
    QFETCH(QString, files);
    QFETCH(QString, expected);
    const QTemporaryDir folder;
    const auto write = [&](const std::string& name, const json& content) {
      std::ofstream(folder.filePath(QString::fromStdString(name + ".json")).toStdString())
          << content.dump();
    };
    json file = smallest();
    for (int id = 260; id < 300; ++id) file["model"]["vocab"]["abc" + std::to_string(id)] = id;
    file["added_tokens"] = {added(300, "<|endoftext|>"), added(301, "<|im_start|>"),
                            added(302, "<|im_end|>")};
    write("tokenizer", file);
    const json others = json::parse(files.toStdString());
    for (const auto& [name, content] : others.items()) write(name, content);
    const auto tokenizer = Tokenizer::load(folder.filePath("tokenizer.json").toStdString());
    QVERIFY(tokenizer.has_value());
    const auto content = [](const std::optional<heddle::data::SpecialToken>& token) {
      return QString::fromStdString(token ? token->content : "-");
    };
    const auto of_id = [&](std::optional<int32_t> id) {
      return QString::fromStdString(id ? *tokenizer->token_of(*id) : "");
    };
    const auto& special = tokenizer->special_tokens();
    QString said =
        QStringList{content(special.bos), content(special.eos), content(special.pad)}.join(' ') +
        ": " + (of_id(tokenizer->bos_id()) + " document " + of_id(tokenizer->eos_id())).trimmed() +
        "; ";
    for (const std::string& warning : tokenizer->warnings())
      said += QString::fromStdString(warning).replace(folder.path(), "F");
    QCOMPARE(said, expected);
  }

  void refusals_data() {
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* pointer, const char* value, const char* expected) {
      QTest::addRow("%s = %s", pointer, value) << pointer << value << expected;
    };
    row("/model", "null", "test.json: no \"model\": not a Hugging Face tokenizer.json");
    row("/model/type", "\"WordPiece\"",
        "test.json: model: type \"WordPiece\" (of BERT) is not supported; valid: \"BPE\", "
        "\"WordLevel\"");
    row("/model/type", "\"Unigram\"",
        "test.json: model: type \"Unigram\" (SentencePiece's, of T5, XLNet, ALBERT …) is not "
        "supported; valid: \"BPE\", \"WordLevel\"");
    row("/model/dropout", "0.1", "test.json: model.dropout = 0.1 is not supported; valid: null");
    row("/model/vocab", "[1]",
        "test.json: model: \"vocab\" (an object) and \"merges\" (a list) are needed");
    row("/model/vocab/ab", "-1",
        "test.json: model.vocab: \"ab\" has the id -1; valid: 0 to 4194303");
    row("/model/vocab/ab", "2000000000",
        "test.json: model.vocab: \"ab\" has the id 2000000000; valid: 0 to 4194303");
    row("/model/vocab/ab", "257",
        "test.json: model.vocab: \"ab\" and \"abc\" have the same id 257");
    row("/model/merges/1", "[\"ab\", \"d\"]",
        "test.json: model.merges[1]: [\"ab\",\"d\"] needs \"abd\", which vocab lacks");
    row("/model/merges/1", "\"abc\"",
        "test.json: model.merges[1]: \"abc\" is no merge; valid: [\"a\", \"b\"] or \"a b\"");
    row("/normalizer", "{\"type\": \"BertNormalizer\"}",
        "test.json: normalizer: type \"BertNormalizer\" is not supported; valid: null, NFC, NFD, "
        "NFKC, NFKD, Lowercase, StripAccents, Prepend, Replace, Strip, ByteLevel, Sequence");
    row("/pre_tokenizer", "{\"type\": \"UnicodeScripts\"}",
        "test.json: pre_tokenizer: type \"UnicodeScripts\" is not supported; valid: Sequence, "
        "Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer, "
        "CharDelimiterSplit, Metaspace, ByteLevel");
    row("/pre_tokenizer", "{\"type\": \"Split\", \"behavior\": \"Backwards\"}",
        "test.json: pre_tokenizer: Split: behavior \"Backwards\" is not supported; valid: "
        "Isolated, "
        "Removed, MergedWithPrevious, MergedWithNext, Contiguous");
    row("/pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "*a"}})",
        "test.json: pre_tokenizer: \"*a\" is no regular expression: quantifier does not follow a "
        "repeatable item");
    row("/pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "[[:foo:]]"}})",
        "test.json: pre_tokenizer: \"[[:foo:]]\" holds [:foo:], which is not supported");
    row("/pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(?i:[a[^b]]) "}})",
        "test.json: pre_tokenizer: \"(?i:[a[^b]]) \" has a class in a class where case is ignored, "
        "which is not supported");
    row("/pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "a(?i)b"}})",
        "test.json: pre_tokenizer: \"a(?i)b\" sets (?i) within an expression, which is not "
        "supported");
    row("/pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "\\u12"}})",
        "test.json: pre_tokenizer: \"\\u12\" has \\u without four hexadecimal digits");
    row("/added_tokens", R"([{"id": 300, "content": ""}])",
        "test.json: added_tokens[0]: \"id\" (0 to 4194303) and \"content\" (a text) are needed");
  }
  void refusals() {
    QFETCH(QString, pointer);
    QFETCH(QString, value);
    QFETCH(QString, expected);
    json file = smallest();
    file[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
    QCOMPARE(QString::fromStdString(error_of(file.dump())), expected);
  }

  void bytes_that_the_vocabulary_lacks_are_lost() {
    json file = smallest();
    file["model"]["vocab"].erase("Ġ");
    file["model"]["merges"] = {"a b", "ab c"};
    file["model"]["vocab"].erase("Ġa");
    QCOMPARE(pieces(file, "a bc"), QString("abc"));  // its neighbours merge
    const auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
    QCOMPARE(tokenizer->warnings(),
             std::vector<std::string>{"the vocabulary lacks 1 of the 243 bytes of UTF-8: they are "
                                      "left out of texts, as tokenizers does"});
    file["model"]["unk_token"] = "<unk>";
    QVERIFY(pieces(file, "abc") == "abc");
    auto lacking = Tokenizer::parse(file.dump(), "test.json");
    QCOMPARE(lacking->encode("a b").error().message,
             std::string(
                 "a part of the text is not in the vocabulary, nor is model.unk_token \"<unk>\""));
  }

  void bytes_outside_of_utf8_become_the_replacement_where_there_is_no_token_for_them() {
    json file = smallest();
    QCOMPARE(pieces(file,
                    "a\xFF"
                    "b"),
             QString("a|ÿ|b"));
    file["model"]["vocab"].erase("ÿ");
    QCOMPARE(pieces(file,
                    "a\xFF"
                    "b"),
             QString("a|ï|¿|½|b"));
  }

  void files_that_contradict_themselves_are_warned_of() {
    json file = smallest();
    file["added_tokens"] = {added(260, "<a>"), added(300, "<b>"), added(300, "ab")};
    QCOMPARE(pieces(file, "<a><b>xab"), QString("<a>|<b>|x|ab"));
    const auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
    QCOMPARE(tokenizer->id_of("<b>"), 261);
    QCOMPARE(tokenizer->id_of("ab"), 256);
    QCOMPARE(tokenizer->warnings(),
             (std::vector<std::string>{
                 "\"<b>\" has the id 261 (the next that is free), not 300 as added_tokens says",
                 "\"ab\" has the id 256 (as in model.vocab), not 300 as added_tokens says"}));
  }

  void files_that_are_no_tokenizer() {
    QCOMPARE(error_of("To be, or not to be"),
             std::string("test.json: not JSON (at byte 1); valid: a Hugging Face tokenizer.json"));
    const std::string whole = smallest().dump();
    QVERIFY(error_of(whole.substr(0, 1000)).starts_with("test.json: not JSON (at byte 1001)"));
    for (const char* other : {"[]", "3", "null", "\"model\"", "{}"})
      QCOMPARE(error_of(other),
               std::string("test.json: no \"model\": not a Hugging Face tokenizer.json"));
    const auto missing = Tokenizer::load("/nowhere/tokenizer.json");
    QCOMPARE(missing.error().message,
             std::string("/nowhere/tokenizer.json: cannot be read: No such file or "
                         "directory; valid: a Hugging Face tokenizer.json"));
    QVERIFY(!Tokenizer::load("/"));
  }

  void a_number_that_is_out_of_range_is_an_error() {
    std::string text = smallest().dump();
    text.insert(1, "\"added\":1e999,");
    QCOMPARE(error_of(text),
             std::string("test.json: the number 1e999 is out of range (at byte 14); valid: a "
                         "Hugging Face tokenizer.json"));
    QVERIFY(error_of("{\"model\":" + std::string(100'000, '[')).find("32 deep") !=
            std::string::npos);
  }

  void a_runaway_expression_is_an_error_data() {
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QString>("error");
    QTest::newRow("tries everything") << "(a+)+$"
                                      << "gave up at byte 0 of 101";
    QTest::newRow("ends before it begins") << R"((?(DEFINE)(?<x>a\K))(?=(?&x)))"
                                           << "gives a match that ends before it begins";
    QTest::newRow("calls itself") << R"((?<x>a\g<x>|b\g<x>|))"
                                  << "gave up";
  }
  void a_runaway_expression_is_an_error() {
    QFETCH(QString, expression);
    QFETCH(QString, error);
    auto tokenizer = Tokenizer::parse(with_split(expression.toStdString()).dump(), "test.json");
    QVERIFY2(tokenizer.has_value(), tokenizer ? "" : tokenizer.error().message.c_str());
    const size_t letters = error == "gave up" ? 2'000'000 : 100;
    const auto ids = tokenizer->encode(std::string(letters, 'a') + "c");
    QVERIFY(!ids);
    const QString said = QString::fromStdString(ids.error().message);
    QVERIFY2(said.contains(expression) && said.contains(error), qPrintable(said));
  }

  void a_normalizer_that_grows_is_an_error() {
    json file = smallest(), steps = json::array();
    for (int i = 0; i < 40; ++i)
      steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
    file["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
    auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
    const auto ids = tokenizer->encode("abc");
    QVERIFY(!ids);
    QVERIFY2(ids.error().message.find("makes more than 65584 bytes of 3;") != std::string::npos,
             ids.error().message.c_str());
    for (int i = 0; i < 40; ++i) steps.push_back({{"type", "NFC"}});
    file["normalizer"]["normalizers"] = steps;
    QCOMPARE(error_of(file.dump()), std::string("test.json: normalizer: more than 64 steps"));
  }

  void long_words_are_merged_in_parts_or_refused() {
    // Nothing joins c to a, so that the whole may be cut there; a to a joins anywhere.
    json file = smallest();
    file["model"]["vocab"]["aa"] = 260;
    file["model"]["merges"].push_back("a a");
    auto tokenizer = Tokenizer::parse(file.dump(), "test.json");
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += "abc";
    const auto ids = tokenizer->encode(text);
    QVERIFY(ids.has_value());
    QVERIFY(*ids == std::vector<int32_t>(1'000'000, 257));
    const auto refused = tokenizer->encode(std::string(3'000'000, 'a'));
    QCOMPARE(refused.error().message,
             std::string("a word of 3000000 bytes, of which no 2097152 can be merged at once; "
                         "valid: text with spaces in it"));
    QCOMPARE(tokenizer->encode("abcab").value(), (std::vector<int32_t>{257, 256}));
  }
};

HEDDLE_TEST(TokenizerFileTest)
#include "tokenizer_file_test.moc"
