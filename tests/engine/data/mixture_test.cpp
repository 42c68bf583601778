// Which text of a mix each sample is of.
#include "engine/data/mixture.h"

#include <QtTest>
#include <cmath>
#include <vector>

#include "tests/support/test_class.h"

using heddle::data::Mixture;

class MixtureTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void counts_follow_the_weights_data() {
    QTest::addColumn<QList<double>>("weights");
    QTest::newRow("two") << QList<double>{0.7, 0.3};
    QTest::newRow("not of one") << QList<double>{5, 1, 2};
    QTest::newRow("a rare one") << QList<double>{0.999, 0.001};
  }

  void counts_follow_the_weights() {
    QFETCH(QList<double>, weights);
    constexpr int64_t kSamples = 10'000;
    double all = 0;
    for (const double weight : weights) all += weight;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Mixture mixture({weights.begin(), weights.end()}, seed);
      std::vector<int64_t> counts(static_cast<size_t>(weights.size()));
      for (int64_t place = 0; place < kSamples; ++place) {
        const auto pick = mixture.at(place);
        if (place % 997 == 0) QVERIFY(mixture.before(place) == counts);
        QCOMPARE(pick.place, counts[pick.text]++);  // each text's samples one after the other
      }
      for (qsizetype i = 0; i < weights.size(); ++i) {
        const double share = weights[i] / all, mean = share * kSamples;
        const double deviation = std::sqrt(kSamples * share * (1 - share));
        const double off = std::abs(static_cast<double>(counts[static_cast<size_t>(i)]) - mean);
        QVERIFY2(off <= 3 * deviation, std::to_string(off / deviation).c_str());
      }
    }
  }

  void any_place_is_found_without_those_before() {
    const Mixture in_order({1, 2}, 7), at_once({1, 2}, 7);
    Mixture::Pick last;
    for (int64_t place = 0; place <= 20'000; ++place) last = in_order.at(place);
    const auto pick = at_once.at(20'000);
    QCOMPARE(pick.text, last.text);
    QCOMPARE(pick.place, last.place);
    QCOMPARE(at_once.at(5).place, in_order.at(5).place);
  }

  void the_seed_changes_it() {
    const Mixture one({1, 1}, 1), other({1, 1}, 2);
    int differ = 0;
    for (int64_t place = 0; place < 1000; ++place)
      differ += one.at(place).text != other.at(place).text;
    QVERIFY(differ > 400 && differ < 600);
  }
};

HEDDLE_TEST(MixtureTest)
#include "mixture_test.moc"
