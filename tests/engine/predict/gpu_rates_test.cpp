// The rates of plans for GPUs: measured on this host, else the catalogue's, else a guess.
#include "engine/predict/gpu_rates.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "base/host_name.h"
#include "engine/cost/gpu_calibration.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

constexpr const char* kH100 = "NVIDIA H100 80GB HBM3";

cost::Rates rates_of(const std::string& gpu, int64_t ranks, int64_t ranks_of_host,
                     const std::string& transport = "nccl") {
  recipe::Recipe recipe;
  recipe.parallelism.dp_shard = recipe.hardware.ranks = ranks;
  recipe.transport.gpus = transport;
  const recipe::Layout layout(recipe);
  cost::GroupKinds groups;
  for (const recipe::Group& group : layout.groups()) groups[group.name] = {"nccl", group.ranks};
  return predict::rates_of_gpus(recipe, layout, gpu, ranks_of_host, groups);
}

// Seconds of a gather of all ranks.
double gather(const cost::Rates& rates, int64_t bytes) {
  double longest = 0;
  for (const auto& [group, link] : rates.links)
    longest = std::max(longest, cost::at_bytes(link.all_gather.alone, bytes));
  return longest;
}

}  // namespace

class GpuRatesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { qputenv("XDG_CONFIG_HOME", folder_.path().toUtf8()); }

  void a_gpu_that_nobody_knows_is_guessed() {
    for (const cost::Rates& rates :
         {rates_of("NVIDIA Loom 9", 8, 8), rates_of("", 8, 8), rates_of(kH100, 8, 8, "host")}) {
      QVERIFY(!rates.device);
      QCOMPARE(rates.remarks, std::vector<std::string>{"a GPU's operators are guessed"});
    }
  }

  void a_gpu_of_the_catalogue_counts_as_there() {
    const cost::Rates rates = rates_of(kH100, 8, 8);
    QVERIFY(rates.device);
    QCOMPARE(rates.device->bf16_flops, 794e12);
    QVERIFY2(rates.remarks.size() == 1 && rates.remarks[0].find("h100-sxm") != std::string::npos,
             "the remark");
    QCOMPARE(cost::shortcomings(rates), rates.remarks[0]);
  }

  // The network is slower than what joins a host's GPUs; a gather may be of any size.
  void ranks_of_several_hosts_meet_over_the_network() {
    constexpr int64_t kBytes = int64_t{1} << 32;
    const cost::Rates one = rates_of(kH100, 8, 8), two = rates_of(kH100, 8, 4);
    QVERIFY(gather(two, kBytes) > 1.05 * gather(one, kBytes));
    for (const auto& [group, link] : one.links)
      QVERIFY(link.all_gather.alone.back().bytes > kBytes);
  }

  void what_was_measured_here_counts_most() {
    const QString name = QString::fromStdString(cost::measured_name(host_name()));
    QVERIFY(QDir(folder_.path()).mkpath("heddle/hardware"));
    QFile file(folder_.filePath("heddle/hardware/measured.toml"));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(QString("[device.\"%1\"]\nlike = \"h100-sxm\"\ntitle = \"mine\"\nbf16_best_tflops = "
                       "{ value = 700, from = \"measured\", spread = 0.02, source = \"here\" }\n"
                       "[node.\"%1\"]\nlike = \"h100-sxm\"\ntitle = \"mine\"\ndevice = \"%1\"\n")
                   .arg(name)
                   .toUtf8());
    file.close();
    for (const char* gpu : {kH100, ""}) {
      const cost::Rates rates = rates_of(gpu, 8, 8);
      QVERIFY(rates.device);
      QCOMPARE(rates.device->bf16_flops, 700e12);
      QVERIFY(rates.remarks.empty());
    }
    QVERIFY(file.remove());
  }

 private:
  QTemporaryDir folder_;
};

HEDDLE_TEST(GpuRatesTest)
#include "gpu_rates_test.moc"
