// A member's text without a parser: what the parser gives, or nothing.
#include "engine/data/plain_json.h"

#include <QtTest>
#include <array>
#include <random>

#include "base/read_json.h"
#include "tests/support/test_class.h"

using heddle::data::plain_member;

namespace {

/// As the parser has it; nothing: it is no object with such a text.
std::optional<std::string> parsed(const std::string& line) {
  const std::array<std::string_view, 1> names = {"text"};
  const auto json = heddle::read_json_members(line, names);
  if (!json || !json->is_object()) return std::nullopt;
  const auto found = json->find("text");
  if (found == json->end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

const std::array kLines = {
    R"({"text": "one\ntwo", "id": 1})",
    R"( {"text":"","url":"http:\/\/a.b\/c?d=\"e\"","score":-0.25,"n":0} )",
    R"({"a": null, "b": true, "c": false, "text": "\u00e9\u4e2d\ud83d\ude42 \"\\\b\f\n\r\t"})",
    "{\"te\\u0078t\": \"escaped name, caf\xC3\xA9 \xF0\x9F\x99\x82\"}\r",
    R"({"n": [1e3, {"x": [[], {}]}, "y"], "text": "a", "m": {"z": 1234567890123456}})",
    R"({"id": "000000000000000", "text": "long enough a text to be read eight bytes at a time"})",
};

}  // namespace

class PlainJsonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void plain_lines() {
    for (const char* line : kLines) {
      QVERIFY2(parsed(line), line);
      QVERIFY2(plain_member(line, "text") == parsed(line), line);
    }
  }

  void what_is_not_plain() {
    for (const char* line : {"",
                             "{",
                             "{}",
                             "[]",
                             "\"text\"",
                             R"({"text": 3})",
                             R"({"text": null})",
                             R"({"text": "a", "text": "b"})",
                             R"({"text": "a"} {})",
                             R"({"text": "a",})",
                             R"({"text" "a"})",
                             R"({"text": "\ud83d"})",
                             R"({"text": "\ude42\ud83d"})",
                             R"({"text": "\x"})",
                             R"({"text": "\u12"})",
                             R"({"text": "\u+123"})",
                             "{\"text\": \"a\nb\"}",
                             "{\"text\": \"\xFF\"}",
                             R"({"text": "a", "n": 01})",
                             R"({"text": "a", "n": 1.})",
                             R"({"text": "a", "n": -})",
                             R"({"text": "a", "n": nul})",
                             R"({"text": "a", "n": truee})",
                             "{\"text\": \"a",
                             R"({'text': 'a'})"}) {
      QVERIFY2(!plain_member(line, "text"), line);
      QVERIFY2(!parsed(line), line);
    }
  }

  void other_members_may_hold_what_python_writes() {
    for (const char* value :
         {"NaN", "Infinity", "-Infinity", "1e999", "[NaN, [], {}, {\"x\": NaN}]"}) {
      const std::string line = std::string(R"({"n": )") + value + R"(, "text": "a NaN"})";
      QVERIFY2(plain_member(line, "text") == "a NaN", line.c_str());
      QVERIFY2(!parsed(line), line.c_str());
      const std::string standard = heddle::data::without_pythons_numbers(line);
      QCOMPARE(standard.size(), line.size());
      QVERIFY2(parsed(standard) == "a NaN", standard.c_str());
    }
    for (const char* value : {"nan", "inf", "+1", "[1,]", "{\"x\"}", "[1}", "{1: 2}", "[", "NaNs"})
      QVERIFY2(!plain_member(std::string(R"({"text": "a", "n": )") + value + "}", "text"), value);
  }

  /// Finds the same as the parser in lines with random changes.
  void as_the_parser_says() {
    constexpr std::string_view kBytes =
        "\"\\{}[]:, \t\n\r0123456789abcdefnrtuxD-+.eE\x01\x7F\xC3\xA9\xED\xF0";
    std::mt19937 random(7);
    const auto one_of = [&](size_t count) { return random() % count; };
    int found = 0;
    for (int i = 0; i < 200'000; ++i) {
      std::string line = kLines[one_of(kLines.size())];
      for (size_t edits = one_of(3) + 1; edits > 0; --edits) {
        const size_t at = one_of(line.size());
        const char byte = kBytes[one_of(kBytes.size())];
        if (const size_t how = one_of(3); how == 0)
          line[at] = byte;
        else if (how == 1)
          line.insert(at, 1, byte);
        else
          line.erase(at, 1 + one_of(3));
      }
      const auto text = plain_member(line, "text");
      if (!text) continue;
      ++found;
      QVERIFY2(text == parsed(heddle::data::without_pythons_numbers(line)), line.c_str());
    }
    QVERIFY2(found > 10'000, qPrintable(QString::number(found)));
  }
};

HEDDLE_TEST(PlainJsonTest)
#include "plain_json_test.moc"
