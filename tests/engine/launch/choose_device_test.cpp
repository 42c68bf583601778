// Which device hardware.device = "auto" means.

#include "engine/launch/choose_device.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "engine/probe/gpus_here.h"
#include "tests/support/test_class.h"

using namespace heddle::launch;
using heddle::probe::gpus_here;
using heddle::probe::GpusOf;

class ChooseDeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_gpu_for_each_rank_is_taken() {
    const DeviceChoice one = choose_device({{"node", 4, "NVIDIA H100"}}, 4, false);
    QVERIFY(one.gpus);
    QCOMPARE(one.why, std::string("4 ranks on 4 × NVIDIA H100"));
    const DeviceChoice two =
        choose_device({{"a", 8, "NVIDIA B200"}, {"b", 8, "NVIDIA B200"}}, 8, false);
    QVERIFY(two.gpus);
    QCOMPARE(two.why, std::string("16 ranks on 16 × NVIDIA B200"));
  }

  void all_hosts_have_them_or_none_is_used() {
    const DeviceChoice choice = choose_device({{"a", 2, "NVIDIA H100"}, {"b"}}, 2, false);
    QVERIFY(!choice.gpus);
    QCOMPARE(choice.why, std::string("4 ranks on the CPU: b has no GPU that can be used"));
  }

  void too_few_are_shared_only_where_that_is_asked_for() {
    const std::vector<GpusOf> hosts{{"a", 1, "NVIDIA H100"}};
    const DeviceChoice alone = choose_device(hosts, 2, false);
    QVERIFY(!alone.gpus);
    QCOMPARE(alone.why,
             std::string("2 ranks on the CPU: a has 1 GPU for 2 ranks, and each takes one; "
                         "hardware.ranks = 1 fits, and with transport.gpus = \"host\" ranks share "
                         "them"));
    QVERIFY(choose_device(hosts, 2, true).gpus);
  }

  void what_keeps_them_from_use_is_said() {
    const DeviceChoice choice = choose_device({{"a", 2, "NVIDIA H100", "no plug-in"}}, 2, false);
    QVERIFY(!choice.gpus);
    QCOMPARE(choice.why, std::string("2 ranks on the CPU: of a's GPUs: no plug-in"));
  }

  void this_host_is_asked_only_where_there_is_a_driver() {
    QTemporaryDir folder;
    const std::string devices = folder.path().toStdString(), engine = devices + "/engine";
    std::ofstream(engine) << "#!/bin/sh\n[ \"$1\" = gpus ] || exit 2\necho '"
                          << heddle::probe::gpus_text(2, "NVIDIA H200", "") << "'\n";
    std::filesystem::permissions(engine, std::filesystem::perms(0755));
    QCOMPARE(gpus_here(engine, devices).count, int64_t{0});
    std::ofstream(devices + "/nvidiactl").flush();
    const GpusOf here = gpus_here(engine, devices);
    QCOMPARE(here.count, int64_t{2});
    QCOMPARE(here.name, std::string("NVIDIA H200"));
    QCOMPARE(here.fault, std::string());
    for (const char* wrong : {"echo nothing", "echo '{}'", "echo no driver >&2; exit 3"}) {
      std::ofstream(engine) << "#!/bin/sh\n" << wrong << "\n";
      QVERIFY(!gpus_here(engine, devices).fault.empty());
    }
    QVERIFY(gpus_here(engine, devices).fault.find("no driver") != std::string::npos);
    QVERIFY(!gpus_here(devices + "/none", devices).fault.empty());
  }

  void a_plugin_of_another_build_is_refused() {
    heddle::process::Command ask;
    ask.argv = {"env", "LD_LIBRARY_PATH=" HEDDLE_OTHER_BUILD, HEDDLE_BINARY_DIR "/heddle-engine",
                "gpus"};
    const auto said = heddle::process::run(ask);
    QVERIFY2(said, said ? "" : said.error().message.c_str());
    QCOMPARE(said->exit_code, 0);
    QVERIFY2(said->out.find("libheddle_cuda.so is of another build (another) than this engine (") !=
                 std::string::npos,
             said->out.c_str());
    QVERIFY2(said->out.find("packaging/start.sh --cuda builds both") != std::string::npos,
             said->out.c_str());
  }
};

HEDDLE_TEST(ChooseDeviceTest)
#include "choose_device_test.moc"
