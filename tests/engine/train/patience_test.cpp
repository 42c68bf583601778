// How long ranks wait for each other, by the recipe's [timeouts].
#include "engine/train/patience.h"

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;
using train::Patience;

class PatienceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_first_step_has_the_start_s() {
    const Patience patience(recipe::Timeouts{.start = 30, .step = 5, .checkpoint = 7});
    QCOMPARE(patience.limit(false).count(), 30'000);
  }

  void a_step_has_twenty_times_the_slowest_of_the_last() {
    Patience patience(recipe::Timeouts{});
    patience.took(0.5);
    QCOMPARE(patience.limit(false).count(), 60'000);
    patience.took(10);
    QCOMPARE(patience.limit(false).count(), 200'000);
    for (int i = 0; i < 8; ++i) patience.took(4);
    QCOMPARE(patience.limit(false).count(), 80'000);
  }

  void what_is_written_stands() {
    Patience patience(recipe::Timeouts{.start = 30, .step = 1.5, .checkpoint = 7});
    patience.took(100);
    QCOMPARE(patience.limit(false).count(), 1500);
    QCOMPARE(patience.limit(true).count(), 8500);
  }
};

HEDDLE_TEST(PatienceTest)
#include "patience_test.moc"
