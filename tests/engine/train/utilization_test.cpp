// The share of a GPU's peak that training makes use of.
#include <QTest>

#include "engine/recipe/modules.h"
#include "engine/recipe/presets.h"
#include "engine/train/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

class UtilizationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The 8B at 8,192 tokens takes 57.9 GFLOPs a token.
  void utilization_is_the_share_of_the_peak() {
    train::Results results;
    results.flops_per_token =
        static_cast<double>(recipe::flops_per_token(*recipe::preset("llama3-8b"), 8192));
    QVERIFY(!results.mfu(10000));
    results.peak_flops = 989e12;
    QVERIFY(std::abs(results.mfu(10000).value() - 0.5856) < 1e-4);
  }
};

HEDDLE_TEST(UtilizationTest)
#include "utilization_test.moc"
