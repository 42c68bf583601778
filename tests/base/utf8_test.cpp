// Text from outside: any bytes, on their way to JSON, the store, the window and terminals.
#include "base/utf8.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <string>
#include <thread>

#include "base/guard.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/one_line.h"
#include "base/say.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

/// Numbers that are the same in each run.
class Bytes {
 public:
  std::string next() {
    std::string bytes(state_ % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(draw() >> 24);
    draw();
    return bytes;
  }

 private:
  uint32_t draw() { return state_ = state_ * 1664525 + 1013904223; }
  uint32_t state_ = 1;
};

}  // namespace

class Utf8Test : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_is_no_utf8_is_replaced_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, const QByteArray& bytes, const QString& text) {
      QTest::newRow(name) << bytes << text;
    };
    const QString mark(QChar::ReplacementCharacter);
    row("nothing", "", "");
    row("ASCII", "a run", "a run");
    row("a zero byte", QByteArray("a\0b", 3), QString::fromLatin1("a\0b", 3));
    row("two bytes", "\xC3\xA4", QString::fromUtf8("\xC3\xA4"));
    row("three bytes", "\xE2\x82\xAC", QString::fromUtf8("\xE2\x82\xAC"));
    row("four bytes", "\xF0\x9F\xA7\xB5", QString::fromUtf8("\xF0\x9F\xA7\xB5"));
    row("Latin-1", "K\xF6ln", "K" + mark + "ln");
    row("a continuation alone", "a\x80z", "a" + mark + "z");
    row("cut off", "abc\xE2\x82", "abc" + mark + mark);
    row("overlong", "\xC0\xAF", mark + mark);
    row("a surrogate", "\xED\xA0\x80", mark + mark + mark);
    row("beyond Unicode", "\xF4\x90\x80\x80", mark + mark + mark + mark);
    row("no lead byte", "\xFF\xFE", mark + mark);
  }
  void what_is_no_utf8_is_replaced() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, text);
    const std::string made = valid_utf8(bytes.toStdString());
    QCOMPARE(QString::fromStdString(made), text);
    QCOMPARE(valid_utf8(made), made);
  }

  void any_bytes_become_json() {
    Bytes bytes;
    for (int i = 0; i < 20'000; ++i) {
      const std::string text = bytes.next();
      const std::string valid = valid_utf8(text);
      QCOMPARE(valid_utf8_prefix(valid), valid.size());
      // As a value and as a key, as nlohmann::json reads it back.
      const std::string json = json_text(nlohmann::json{{text, text}});
      const auto read = nlohmann::json::parse(json, nullptr, false);
      QVERIFY(read.is_object());
      QCOMPARE(read.size(), size_t{1});
      // Its own replacements may be fewer: what is valid is the same.
      if (valid == text) QCOMPARE(read.begin().value().get<std::string>(), text);
    }
  }

  void no_text_moves_a_terminals_cursor_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("shown");
    const auto row = [](const char* name, const QByteArray& bytes, const QByteArray& shown) {
      QTest::newRow(name) << bytes << shown;
    };
    row("plain", "loss 4.25\tstep 3\n", "loss 4.25\tstep 3\n");
    row("other scripts", "\xC3\xA4 \xE4\xB8\xAD \xF0\x9F\xA7\xB5",
        "\xC3\xA4 \xE4\xB8\xAD \xF0\x9F\xA7\xB5");
    row("clears the screen", "\x1b[2J", "\\u001b[2J");
    row("renames the window", "\x1b]0;root\x07", "\\u001b]0;root\\u0007");
    row("goes back and writes over", "failed\rdone  ", "failed\\u000ddone  ");
    row("deletes", "no\b\b\x7f", "no\\u0008\\u0008\\u007f");
    row("an escape of one character",
        "\xC2\x9B"
        "2J",
        "\\u009b2J");
    row("an escape of one byte",
        "\x9B"
        "2J",
        "\xEF\xBF\xBD"
        "2J");
    row("turns the direction",
        "a\xE2\x80\xAE"
        "b",
        "a\\u202eb");
    row("isolates",
        "a\xE2\x81\xA6"
        "b",
        "a\\u2066b");
    row("marks a direction",
        "a\xE2\x80\x8F"
        "b",
        "a\\u200fb");
    row("separates lines and paragraphs", "a\xE2\x80\xA8 b\xE2\x80\xA9", "a\\u2028 b\\u2029");
    row("nobody sees", "a\xE2\x80\x8B \xEF\xBB\xBF \xE2\x81\xA0", "a\\u200b \\ufeff \\u2060");
    row("a tag nobody sees", "a\xF3\xA0\x81\x81", "a\\udb40\\udc41");
    row("joiners of scripts stay", "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8D",
        "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8D");
    row("a zero byte", QByteArray("a\0b", 3), "a\\u0000b");
  }
  void no_text_moves_a_terminals_cursor() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(printable(bytes.toStdString())), shown);
  }

  void json_stays_what_it_is_on_a_terminal() {
    const std::string text = "\x1b]0;x\x07 \xC2\x9B \x7f \xE2\x80\xAE \xF3\xA0\x81\x81";
    const std::string shown = printable(json_text(nlohmann::json{{"cause", text}}, 2));
    QCOMPARE(nlohmann::json::parse(shown).at("cause").get<std::string>(), text);
  }

  void names_take_one_line() {
    for (const char* plain : {"debug", " a  b ", "\xC3\xA4 \xE4\xB8\xAD", "back\\slash"})
      QCOMPARE(one_line(plain), std::string(plain));
    QCOMPARE(one_line("a\nb\tc\rd"), std::string("a\\nb\\tc\\u000dd"));
    QCOMPARE(one_line("rtl-\xE2\x80\xAEgnp.exe"), std::string("rtl-\\u202egnp.exe"));
  }

  void numbers_keep_their_digits_and_names() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::nan("");
    constexpr Unit kUnits[] = {Unit::unknown, Unit::number,  Unit::count,
                               Unit::loss,    Unit::bytes,   Unit::tokens_per_second,
                               Unit::tokens,  Unit::seconds, Unit::share};
    const auto check = [](const std::string& text, const char* expected) {
      QCOMPARE(text, std::string(expected));
    };
    check(loss_text(3.9812), "3.981");
    check(loss_text(0.41237), "0.412");
    check(loss_text(0.0004), "0.000400");
    check(loss_text(-0.0003), "-0.000300");
    check(loss_text(1.234e-7), "1.23e-7");
    check(loss_text(-0.0), "0.000");
    check(loss_text(1.5e9), "1.500e9");
    for (const Unit unit : kUnits) {
      check(unit_text(unit, kNaN), "NaN");
      check(unit_text(unit, kInfinity), "∞");
      check(unit_text(unit, -kInfinity), "−∞");
    }
    // A value that rounds up to the next unit is shown in it.
    check(seconds_text(0.99996), "1.00 s");
    check(seconds_text(9.999), "10.0 s");
    check(seconds_text(110), "110 s");
    check(seconds_text(119.96), "2.00 min");
    check(bytes_text(1024 * 1023.99), "1.00 MiB");
    check(bytes_text(-0.3), "0 B");
    check(count_text(-0.3), "0");
    check(rate_text(0.0412), "0.0412 tok/s");
    check(bytes_text(247'305'792), "236 MiB");
    check(bytes_text(247'305'792, 2), "235.85 MiB");
    check(seconds_text(0.089), "89.0 ms");
    check(short_count_text(8'030'261'248), "8.03 B");
    check(share_text(0.41237), "41.2 %");
    check(significant_text(12'345.6), "12,346");
    check(significant_text(3e-4), "3.00e-4");
    check(unit_text(Unit::unknown, 1266), "1,266");
    check(unit_text(Unit::unknown, 0.41237), "0.4124");
  }

  void what_is_thrown_becomes_an_error() {
    VERIFY_SAYS(caught([]() -> Result<int> { throw std::runtime_error("the disk is gone"); }),
                "the disk is gone");
    VERIFY_SAYS(caught([]() -> Result<> { throw std::bad_alloc(); }), "there is not enough memory");
    VERIFY_SAYS(caught([]() -> Result<> { throw 3; }), "no exception");
    QCOMPARE(caught([]() -> Result<int> { return 4; }).value(), 4);
    QCOMPARE(guarded_main("test", [] { return 5; }), 5);
    QCOMPARE(guarded_main("test", []() -> int { throw std::runtime_error("\x1b[2J"); }), 1);
  }

  // Not even where nothing can be said.
  void a_full_disk_throws_nothing() {
    const auto code_of = [](FILE* stream, const auto& body) {
      const pid_t child = fork();
      if (child == 0) {
        if (!freopen("/dev/full", "w", stream)) _exit(9);
        setvbuf(stream, nullptr, _IONBF, 0);
        _exit(guarded_main("test", body));
      }
      int status = 0;
      waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    const auto speak = [](FILE* stream) {
      return [stream] {
        say(stream, "words\n");
        return 0;
      };
    };
    QCOMPARE(code_of(stderr, []() -> int { throw std::runtime_error("no room"); }), 1);
    QCOMPARE(code_of(stderr, speak(stderr)), 0);
    QCOMPARE(code_of(stdout, speak(stdout)), 1);
    QCOMPARE(code_of(stdout, [] { return 2; }), 2);
  }

  void what_a_thread_throws_ends_its_process_with_the_cause() {
    guarded_thread("fine", [] {});
    int said[2];
    QCOMPARE(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(said[1], STDERR_FILENO);
      std::thread([] {
        guarded_thread("wire", [] { throw std::runtime_error("no room"); });
      }).join();
      _exit(0);
    }
    close(said[1]);
    char text[64] = {};
    QVERIFY(read(said[0], text, sizeof(text) - 1) > 0);
    QCOMPARE(text, "wire: no room\n");
    int status = 0;
    waitpid(child, &status, 0);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 1);
    close(said[0]);
  }
};

HEDDLE_TEST(Utf8Test)
#include "utf8_test.moc"
