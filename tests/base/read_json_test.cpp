// JSON and CBOR from outside: what is read, what is refused, and where.
#include "base/read_json.h"

#include <QTemporaryDir>
#include <QtTest>
#include <array>

#include "base/json_number.h"
#include "tests/support/peak_memory.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using nlohmann::json;

namespace {

std::string cbor(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

std::string said(const Result<json>& result) {
  return result ? "accepted" : result.error().message;
}

}  // namespace

class ReadJsonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void json_and_cbor_come_back_as_they_are() {
    const json value = {{"a", {1, -2, 2.5, nullptr, true, "x", 18446744073709551615u}},
                        {"b", {{"c", json::object()}, {"d", json::array()}}},
                        {"", {{{"e", "größer"}}}}};
    QVERIFY(must(read_json(value.dump())) == value);
    QVERIFY(must(read_cbor(cbor(value))) == value);
    for (const char* small : {"3", "\"x\"", "null", "[]", " { } "})
      QVERIFY(must(read_json(small)) == json::parse(small));
  }

  void what_is_wrong_is_said_with_its_place() {
    QCOMPARE(said(read_json("")), std::string("not JSON (at byte 1)"));
    QCOMPARE(said(read_json("[1,")), std::string("not JSON (at byte 4)"));
    QCOMPARE(said(read_json("1 2")), std::string("not JSON (at byte 3)"));
    QCOMPARE(said(read_json("{\"x\":1e999}")),
             std::string("the number 1e999 is out of range (at byte 10)"));
    QCOMPARE(said(read_json("[-1e999]")),
             std::string("the number -1e999 is out of range (at byte 7)"));
    QCOMPARE(said(read_json("{\"a\":1,\"b\":{\"a\":2,\"a\":3}}")),
             std::string("\"a\" is described twice"));
    QCOMPARE(said(read_json("\"\xff\"")), std::string("invalid UTF-8 (at byte 2)"));
    for (const char* lone : {R"(["\ud800"])", R"(["\udc00"])", R"(["\ud83d\ud83d"])"})
      QVERIFY2(
          said(read_json(lone)).starts_with("a lone surrogate, which is half a character (at byte"),
          said(read_json(lone)).c_str());
    QCOMPARE(said(read_json(R"(["; last read: invalid string: surrogate" 2])")),
             std::string("not JSON (at byte 43)"));
    QCOMPARE(said(read_cbor("")), std::string("not CBOR: it ends at byte 0, in the middle"));
    QCOMPARE(said(read_cbor("\x82\x01")),
             std::string("not CBOR: it ends at byte 2, in the middle"));
    QCOMPARE(said(read_cbor("\x01\x01")), std::string("not CBOR: 1 bytes follow its end"));
    QCOMPARE(said(read_cbor("\x81\x63xy")),
             std::string("not CBOR as it is written here (at byte 1)"));
    for (const char* other : {"\x9f\x01\xff", "\x7f\x61x\xff", "\xc1\x01", "\x41x", "\xff"})
      QCOMPARE(said(read_cbor(other)), std::string("not CBOR as it is written here (at byte 0)"));
  }

  void members_that_nobody_asks_for_are_not_built() {
    constexpr std::array<std::string_view, 2> kNames = {"a", "c"};
    const std::string text = "{\"x\":[{\"a\":1},[2]],\"a\":{\"x\":3},\"y\":4,\"z\":{},\"c\":[5]}";
    QCOMPARE(must(read_json_members(text, kNames)).dump(),
             std::string("{\"a\":{\"x\":3},\"c\":[5]}"));
    QCOMPARE(must(read_json_members("[{\"x\":1}]", kNames)).dump(), std::string("[{\"x\":1}]"));
    QVERIFY(!read_json_members(text, kNames, {.values = 25}));
    QVERIFY(read_json_members(text, kNames, {.values = 26}));
    QVERIFY(!read_json_members("{\"x\":[[[[1]]]]}", kNames, {.depth = 4}));
    QCOMPARE(said(read_json_members("{\"x\":{\"y\"]", kNames, {.values = 5})),
             std::string("more than 5 values; no more are read"));
    QVERIFY(!read_json_members("{\"x\":[1e999]}", kNames));
    QVERIFY(!read_json_members("{\"x\":[1}", kNames));
  }

  void the_budget_ends_what_is_read() {
    const Budget budget{.bytes = 100, .values = 13, .depth = 3};
    QVERIFY(read_json("[[[1]],2,3,4,5,6,7]", budget));
    QCOMPARE(said(read_json("[[[[1]]]]", budget)),
             std::string("lists or objects more than 3 deep; no more are read"));
    QCOMPARE(said(read_json("[1,2,3,4,5,6,7,8,9,10,11,12]", budget)),
             std::string("more than 13 values; no more are read"));
    QCOMPARE(said(read_json("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1}", budget)),
             std::string("more than 13 values; no more are read"));
    QCOMPARE(said(read_json(std::string(101, ' '), budget)),
             std::string("101 bytes; at most 100 are read"));
    QVERIFY(read_cbor(cbor(json::parse("[[[1]],2,3,4,5,6]")), budget));
    QCOMPARE(said(read_cbor(cbor(json::parse("[[[[1]]]]")), budget)),
             std::string("lists or objects more than 3 deep; no more are read"));
    QCOMPARE(said(read_cbor(cbor(json::parse("[1,2,3,4,5,6,7,8,9,10,11,12]")), budget)),
             std::string("more than 13 values; no more are read"));
    QCOMPARE(said(read_cbor("\x9b\xff\xff\xff\xff\xff\xff\xff\xff", budget)),
             std::string("more than 13 values; no more are read"));
  }

  void the_default_budget_holds_its_memory() {
    for (const char* item : {"[],", "{},", "0,", "\"\",", "{\"\":0},"}) {
      std::string text = "[";
      while (text.size() + 8 < Budget{}.bytes) text += item;
      text += "0]";
      const double taken = peak_mebibytes([&] { (void)read_json(text); });
      qInfo("%s %.0f MiB", item, taken);
      QVERIFY(taken >= 0 && taken <= 150);
    }
  }

  void whole_numbers_are_in_their_range() {
    QCOMPARE(whole<uint16_t>(json(65535)), uint16_t(65535));
    QCOMPARE(whole<int8_t>(json(-128)), int8_t(-128));
    QCOMPARE(whole<uint64_t>(json(18446744073709551615u)), uint64_t(18446744073709551615u));
    for (const json& value : {json(65536), json(-1), json(1.0), json("1"), json()})
      QVERIFY_THROWS_EXCEPTION(json::exception, whole<uint16_t>(value));
    QCOMPARE(whole_or(json::object(), "a", 7), 7);
    QVERIFY_THROWS_EXCEPTION(json::exception, whole_or(json{{"a", int64_t(1) << 40}}, "a", 7));
  }

  void a_file_is_told_by_its_path() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("a.json").toStdString();
    std::ofstream(path) << "{\"x\":1e999}";
    QCOMPARE(said(read_json_file(path)), path + ": the number 1e999 is out of range (at byte 10)");
    QCOMPARE(said(read_json_file(path + "x")),
             path + "x: cannot be read: No such file or directory");
    QCOMPARE(said(read_json_file(path, {.bytes = 5})), path + ": 11 bytes; at most 5 are read");
  }
};

HEDDLE_TEST(ReadJsonTest)
#include "read_json_test.moc"
