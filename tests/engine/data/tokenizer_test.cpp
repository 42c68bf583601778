// Encoding and decoding against Hugging Face's ids and against properties that hold for every text.
#include "engine/data/tokenizer.h"

#include <QtTest>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "tests/support/files.h"
#include "tests/support/test_class.h"

using heddle::data::Tokenizer;
using heddle::test::read_text;
using Ids = std::vector<int32_t>;

namespace {

const std::string kOurTokenizer = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
const std::string kShakespeareFile = HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt";
const std::string kCases = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/tokenizer_cases.json";

void append_utf8(std::string& text, uint32_t code_point) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  const auto follow = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    follow(0);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    follow(6);
    follow(0);
  } else {
    put(0xF0 | code_point >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
}

/// Text of characters from all planes, with more of those that the splitting treats apart.
std::string random_text(std::mt19937& random, size_t characters) {
  static const std::vector<uint32_t> kTelling = {
      ' ',    ' ',   '\n',  '\r',   '\t', '\'',    's',    'S',    't',    'l',
      '1',    '9',   '.',   '_',    0xA0, 0x85,    0x17F,  0x180E, 0x200D, 0x2028,
      0x3000, 0x301, 0x663, 0x216B, 0xBD, 0x1F469, 0x65E5, 0xDF};
  std::string text;
  for (size_t i = 0; i < characters; ++i) {
    uint32_t code_point = kTelling[random() % kTelling.size()];
    if (random() % 4 == 0) code_point = random() % 0x110000;
    if (code_point >= 0xD800 && code_point < 0xE000) code_point = 'x';
    append_utf8(text, code_point);
  }
  return text;
}

}  // namespace

class TokenizerTest : public QObject {
  Q_OBJECT

  std::unique_ptr<Tokenizer> tokenizer_;

  Ids encode(std::string_view text) { return tokenizer_->encode(text).value(); }

 private Q_SLOTS:
  void initTestCase() {
    auto loaded = Tokenizer::load(kOurTokenizer);
    QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
    tokenizer_ = std::make_unique<Tokenizer>(std::move(*loaded));
  }

  void gives_the_ids_of_hugging_face() {
    const auto cases = nlohmann::json::parse(read_text(kCases));
    QVERIFY(cases.size() >= 20);
    for (const auto& one : cases) {
      const auto text = one["text"].get<std::string>();
      const Ids ids = encode(text);
      QVERIFY2(ids == one["ids"].get<Ids>(), text.c_str());
      QCOMPARE(tokenizer_->decode(ids), text);
    }
  }

  void encodes_a_book_as_hugging_face_does() {
    const std::string book = read_text(kShakespeareFile);
    const Ids ids = encode(book);
    QCOMPARE(ids.size(), size_t{317618});
    QVERIFY(tokenizer_->decode(ids) == book);
    QVERIFY2(encode(book) == ids, "the cache changed the ids");
  }

  void knows_its_vocabulary() {
    QCOMPARE(tokenizer_->vocab_size(), 4096);
    QCOMPARE(tokenizer_->bos_id(), 4094);
    QCOMPARE(tokenizer_->eos_id(), 4095);
    QCOMPARE(tokenizer_->token_of(4095), std::string("<|end_of_text|>"));
    QCOMPARE(tokenizer_->id_of("<|begin_of_text|>"), 4094);
    QCOMPARE(tokenizer_->id_of("Ġthe"), encode(" the").front());
    QVERIFY(!tokenizer_->id_of(" the"));
    QVERIFY(!tokenizer_->token_of(4096));
    QVERIFY(!tokenizer_->token_of(-1));
    QCOMPARE(tokenizer_->decode(Ids{4096, -1, 39}), std::string("H"));
  }

  void finds_added_tokens_inside_words() {
    QCOMPARE(encode("a<|end_of_text|>b"), (Ids{64, 4095, 65}));
    QCOMPARE(encode("<|end_of_text|><|end_of_text|>"), (Ids{4095, 4095}));
    const Ids broken = encode("<|end_of_text|");
    QVERIFY(std::find(broken.begin(), broken.end(), 4095) == broken.end());
    QCOMPARE(tokenizer_->decode(broken), std::string("<|end_of_text|"));
  }

  void every_byte_comes_back() {
    std::string bytes(256, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    QVERIFY(tokenizer_->decode(encode(bytes)) == bytes);
    for (const char byte : bytes) {
      const Ids ids = encode(std::string(1, byte));
      QCOMPARE(ids.size(), size_t{1});
      QCOMPARE(tokenizer_->decode(ids), std::string(1, byte));
    }
  }

  void text_that_is_not_utf8_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("a lone continuation") << QByteArray("a\x80z");
    QTest::newRow("cut short") << QByteArray("caf\xC3");
    QTest::newRow("overlong") << QByteArray("\xC0\xAF\xE0\x80\xAF");
    QTest::newRow("a surrogate") << QByteArray("x\xED\xA0\x80y");
    QTest::newRow("beyond Unicode") << QByteArray("\xF4\x90\x80\x80 \xFF\xFE");
    QTest::newRow("a zero byte") << QByteArray("a\0b", 3);
  }
  void text_that_is_not_utf8() {
    QFETCH(QByteArray, bytes);
    const std::string text = bytes.toStdString();
    QVERIFY(tokenizer_->decode(encode(text)) == text);
    // Well-formed text around the damage is encoded as usual.
    const Ids ids = encode(text + "<|end_of_text|> the");
    QCOMPARE(ids.back(), encode(" the").front());
    QCOMPARE(ids[ids.size() - 2], 4095);
  }

  void long_runs_take_no_quadratic_time_data() {
    QTest::addColumn<QString>("unit");
    for (const char* unit : {"a", " ", "\n", "1", "'", "é", "the", "日", "👩‍", "\t \n", "ab"})
      QTest::newRow(unit) << QString(unit);
  }
  void long_runs_take_no_quadratic_time() {
    QFETCH(QString, unit);
    std::string text;
    while (text.size() < 1'000'000) text += unit.toStdString();
    text += "x";
    QVERIFY(tokenizer_->decode(encode(text)) == text);
  }

  void random_text_comes_back() {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
      const std::string text = random_text(random, random() % 200);
      const Ids ids = encode(text);
      QVERIFY2(tokenizer_->decode(ids) == text, text.c_str());
      for (const int32_t id : ids) QVERIFY(id >= 0 && id < 4094);
      if (round % 100 == 0)  // nothing remembered
        QVERIFY2(Tokenizer::load(kOurTokenizer)->encode(text).value() == ids, text.c_str());
    }
  }

  void random_bytes_come_back() {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
      std::string bytes(random() % 100, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      QVERIFY(tokenizer_->decode(encode(bytes)) == bytes);
    }
  }

  void texts_between_added_tokens_are_encoded_apart() {
    std::mt19937 random(13);
    for (int round = 0; round < 500; ++round) {
      const std::string left = random_text(random, random() % 20);
      const std::string right = random_text(random, random() % 20);
      Ids expected = encode(left);
      expected.push_back(4095);
      const Ids after = encode(right);
      expected.insert(expected.end(), after.begin(), after.end());
      QCOMPARE(encode(left + "<|end_of_text|>" + right), expected);
    }
  }
};

HEDDLE_TEST(TokenizerTest)
#include "tokenizer_test.moc"
