// From measurements of a GPU that the model itself has made to the entry that they come to.
#include "engine/cost/gpu_calibration.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "engine/cost/device_rates.h"
#include "tests/support/test_class.h"

using namespace heddle;
using cost::GpuCalibration;
using cost::GpuWork;

namespace {

constexpr double kTflops = 700, kLaunch = 2e-6;

// An H100's products at a rate, and what is there besides.
GpuCalibration calibration_at(double tflops) {
  GpuCalibration made{.host = "loom 7",
                      .time = 1764000000,
                      .engine = "1",
                      .gpu = "NVIDIA H100 80GB HBM3",
                      .state = "1755 of 1980 MHz",
                      .ranks = 4,
                      .gpus = 8,
                      .multiprocessors = 132,
                      .memory_bytes = int64_t{79} << 30,
                      .context_bytes = int64_t{1} << 29,
                      .buffers_bytes = int64_t{1} << 30,
                      .measurements = {{GpuWork::graph_launch, "aten.add_", {}, 0, kLaunch, 0.1},
                                       {GpuWork::launch, "aten.add_", {}, 0, 5e-6, 0.1}},
                      .contention = {}};
  cost::DeviceRates rates;
  rates.multiprocessors = 132;
  const auto product = [&](int64_t m, int64_t k, int64_t n) {
    const double seconds = cost::product_seconds(rates, m, k, n, tflops * 1e12, 0, 0) + kLaunch;
    made.measurements.push_back(
        {GpuWork::product, "nt", {m, k, n}, 2.0 * double(m) * double(k) * double(n), seconds, 0});
  };
  product(8192, 4096, 4096);
  product(8192, 4096, 14336);
  product(2048, 4096, 1792);
  const cost::GpuMeasurement& first = made.measurements[2];
  made.measurements.push_back(
      {GpuWork::sustained_product, "nt", first.shape, first.work, first.seconds / 0.9, 0});
  made.measurements.push_back({GpuWork::attention, "a", {8192, 32, 128}, 5e11, 1e-3, 0});
  for (const int64_t ranks : {2, 4})
    for (double bytes = 1 << 20; bytes < 1e9; bytes *= 4)
      for (const GpuWork what : {GpuWork::gather, GpuWork::scatter})
        made.measurements.push_back(
            {what, "g", {ranks}, bytes, 1e-5 * double(ranks) + bytes / (4e11 / double(ranks)), 0});
  made.contention = {{.ranks = 4,
                      .bytes = 1 << 28,
                      .gather_alone = 1e-3,
                      .gather_beside = 1.2e-3,
                      .products_alone = 5e-3,
                      .products_beside = 5.12e-3}};
  return made;
}

hardware::Catalogue with(const std::string& entry) {
  std::vector<hardware::Source> sources = hardware::built_in();
  sources.push_back({"measured.toml", entry});
  return hardware::read_catalogue(sources);
}

void compare(const hardware::Number& found, double expected) {
  QVERIFY2(std::abs(found.value / expected - 1) < 1e-3, qPrintable(QString::number(found.value)));
  QCOMPARE(found.origin, hardware::Origin::measured);
  QCOMPARE(found.source, std::string("heddle-engine calibrate on loom 7, 2025-11-24"));
}

}  // namespace

class GpuCalibrationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_entry_has_the_rates_that_explain_the_times() {
    const auto published = hardware::read_catalogue(hardware::built_in());
    const auto made = cost::measured_entry(calibration_at(kTflops), published);
    QVERIFY(made.has_value());
    QVERIFY2(made->remarks.empty(), made->remarks.empty() ? "" : made->remarks.front().c_str());
    QCOMPARE(made->name, std::string("measured-loom-7"));
    const hardware::Catalogue all = with(made->text);
    QVERIFY2(all.faults.empty(), made->text.c_str());
    const auto entry = all.find(made->name).value();
    compare(entry.device.bf16_best_tflops, kTflops);
    compare(entry.device.sustained_share, 0.9);
    compare(entry.device.attention_forward_tflops, 500);
    compare(entry.device.graph_launch_us, 2);
    compare(entry.device.framework_launch_us, 5);
    compare(entry.device.transfer_slowdown, 0.2);
    compare(entry.device.transfer_multiprocessors, 13.2);
    compare(entry.device.memory_gib, 79);
    compare(entry.device.context_gib, 0.5);
    compare(entry.node.buffers_gib, 1);
    QCOMPARE(entry.node.devices, int64_t{8});
    QCOMPARE(entry.node.gather.size(), size_t{2});
    QCOMPARE(entry.node.gather[1].ranks, int64_t{4});
    compare(entry.node.gather[0].latency_us, 20);
    compare(entry.node.gather[1].gb_per_s, 100);
    // Rates that were not measured are as published, and the published ones are unchanged.
    QCOMPARE(entry.device.attention_backward_tflops.origin, hardware::Origin::guess);
    QCOMPARE(entry.device.bf16_peak_tflops.value, 989.0);
    QCOMPARE(all.find("h100-sxm")->device.bf16_best_tflops,
             published.find("h100-sxm")->device.bf16_best_tflops);
  }

  void what_cannot_be_is_not_kept() {
    const auto made =
        cost::measured_entry(calibration_at(2000), hardware::read_catalogue(hardware::built_in()));
    QVERIFY(made.has_value());
    QCOMPARE(made->remarks.size(), size_t{1});
    QVERIFY2(made->remarks[0].starts_with("bf16_best_tflops: 2e+03 was measured, and cannot be: "
                                          "bf16_best_tflops: 2000 is more than bf16_peak_tflops"),
             made->remarks[0].c_str());
    QCOMPARE(with(made->text).find(made->name)->device.bf16_best_tflops.value, 794.0);
  }

  void a_gpu_that_nobody_has_described_is_told() {
    GpuCalibration unknown = calibration_at(kTflops);
    unknown.gpu = "NVIDIA Loom 9";
    const auto made = cost::measured_entry(unknown, hardware::read_catalogue(hardware::built_in()));
    QVERIFY(!made.has_value());
    for (const char* part : {"no entry for NVIDIA Loom 9", "driver = [\"NVIDIA Loom 9\"]"})
      QVERIFY2(made.error().message.find(part) != std::string::npos, made.error().message.c_str());
  }

  void it_goes_through_json() {
    const nlohmann::json written = cost::to_json(calibration_at(kTflops));
    QVERIFY(cost::to_json(cost::gpu_calibration_from_json(written)) == written);
    nlohmann::json damaged = written;
    damaged["measurements"][0]["what"] = "weaving";
    QVERIFY_EXCEPTION_THROWN(cost::gpu_calibration_from_json(damaged), nlohmann::json::exception);
  }

  void a_spread_is_a_share() {
    std::string text = cost::measured_entry(calibration_at(kTflops),
                                            hardware::read_catalogue(hardware::built_in()))
                           ->text;
    text.replace(text.find("spread = 0.1"), 12, "spread = -1 ");
    const hardware::Catalogue all = with(text);
    QVERIFY(!all.faults.empty());
    QVERIFY2(all.faults.front().str().find("0 to 10 (a share)") != std::string::npos,
             all.faults.front().str().c_str());
  }
};

HEDDLE_TEST(GpuCalibrationTest)
#include "gpu_calibration_test.moc"
