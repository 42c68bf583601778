// Programs that do not end, or say more than anybody reads.
#include "base/process.h"

#include <QtTest>

#include "tests/support/peak_memory.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

class ProcessTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_program_that_says_too_much_is_killed() {
    const double taken = peak_mebibytes([] {
      const auto said = process::run({.argv = {"yes"}});
      if (said || said.error().message != "yes said more than 16777216 bytes and was killed")
        qFatal("%s", said ? "accepted" : said.error().message.c_str());
    });
    QVERIFY(taken >= 0 && taken <= 100);
    VERIFY_SAYS(process::run({.argv = {"sh", "-c", "yes >&2"}, .most_output = 10}),
                "sh said more than 10 bytes and was killed");
    QCOMPARE(must(process::run({.argv = {"echo", "123456789"}, .most_output = 10})).out,
             std::string("123456789\n"));
  }
};

HEDDLE_TEST(ProcessTest)
#include "process_test.moc"
