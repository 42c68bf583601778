// Output of a host's small programs: names of all kinds, and answers that are none.
#include "remote/answers.h"

#include <QtTest>

#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

class AnswersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_come_back_as_they_are() {
    const std::vector<std::string> names{" leading", "trailing ",  "new\nline", "-n",
                                         "a b",      "1 2 3 four", "\x01",      "größe"};
    std::string answer;
    for (const std::string& name : names)
      answer += "81a4 12 1700000000.5 " + name + std::string(1, '\0');
    const auto entries = entries_from(answer);
    QCOMPARE(entries.size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      QCOMPARE(entries[i].name, names[i]);
      QCOMPARE(entries[i].size, uint64_t{12});
      QCOMPARE(entries[i].modified, 1700000000.5);
      QVERIFY(!entries[i].folder);
    }
    const auto folder = entries_from(std::string("41ed 4096 1 /a/b\0", 17));
    QCOMPARE(folder.at(0).name, std::string("b"));
    QVERIFY(folder.at(0).folder);
  }

  void what_is_no_entry_is_left_out() {
    for (const char* line : {"", "81a4", "81a4 12 1", "81a4 12 1 ", "81a4 -1 1 a", "xyz 12 1 a",
                             "81a4 99999999999999999999 1 a", "81a4 12 1e999 a", "81a4 12 1 a/"})
      QVERIFY2(entries_from(std::string(line) + std::string(1, '\0')).empty(), line);
    QVERIFY(entries_from("81a4 12 1 cut-off").empty());
  }

  void pieces_are_cut_as_their_sizes_say() {
    const std::vector<Range> ranges{{"/a", 0, 10}, {"/b", 0, 10}, {"/c", 0, 10}};
    const auto pieces = must(pieces_from("3\na\nb-\n0\n", ranges));
    QCOMPARE(pieces[0].value(), std::string("a\nb"));
    QVERIFY(!pieces[1]);
    QCOMPARE(pieces[2].value(), std::string());
    VERIFY_SAYS(pieces_from("", ranges), "/a changed while it was read");
    VERIFY_SAYS(pieces_from("3\nabc-\n5\nabc", ranges), "/c changed");
    VERIFY_SAYS(pieces_from("3x\nabc", ranges), "/a changed");
    VERIFY_SAYS(pieces_from("-1\n", ranges), "/a changed");
    VERIFY_SAYS(pieces_from("18446744073709551615\n", ranges), "/a changed");
    // More than was asked for.
    VERIFY_SAYS(pieces_from("11\n01234567890-\n-\n", ranges), "/a changed");
  }
};

HEDDLE_TEST(AnswersTest)
#include "answers_test.moc"
