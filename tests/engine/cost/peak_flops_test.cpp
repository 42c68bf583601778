#include "engine/cost/peak_flops.h"

#include <QTest>

#include "engine/recipe/modules.h"
#include "engine/recipe/presets.h"
#include "engine/train/results.h"

using namespace heddle;

class PeakFlopsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_gpu_is_known_by_its_name_data() {
    QTest::addColumn<double>("tflops");  // 0: not known
    QTest::newRow("NVIDIA H200") << 989.0;
    QTest::newRow("NVIDIA H100 80GB HBM3") << 989.0;
    QTest::newRow("NVIDIA H100 PCIe") << 756.0;
    QTest::newRow("NVIDIA H100 NVL") << 835.0;
    QTest::newRow("NVIDIA H200 NVL") << 835.0;
    QTest::newRow("NVIDIA H100 80GB HBM3 MIG 1g.10gb") << 0.0;
    QTest::newRow("NVIDIA A100-SXM4-80GB") << 312.0;
    QTest::newRow("NVIDIA B200") << 2250.0;
    QTest::newRow("NVIDIA GB200") << 2500.0;
    QTest::newRow("NVIDIA H20") << 148.0;
    QTest::newRow("NVIDIA L40S") << 362.0;
    QTest::newRow("NVIDIA L40") << 0.0;
    QTest::newRow("NVIDIA GeForce RTX 4090") << 0.0;
    QTest::newRow("") << 0.0;
  }
  void a_gpu_is_known_by_its_name() {
    QFETCH(double, tflops);
    const auto peak = cost::peak_flops(QTest::currentDataTag());
    QCOMPARE(peak.has_value(), tflops > 0);
    QCOMPARE(peak.value_or(0) / 1e12, tflops);
  }

  // The 8B at 8,192 tokens takes 57.9 GFLOPs a token.
  void utilization_is_the_share_of_the_peak() {
    train::Results results;
    results.flops_per_token =
        static_cast<double>(recipe::flops_per_token(*recipe::preset("llama3-8b"), 8192));
    QVERIFY(!results.mfu(10000));
    results.peak_flops = cost::peak_flops("NVIDIA H200");
    QVERIFY(std::abs(results.mfu(10000).value() - 0.5856) < 1e-4);
  }
};

QTEST_GUILESS_MAIN(PeakFlopsTest)
#include "peak_flops_test.moc"
