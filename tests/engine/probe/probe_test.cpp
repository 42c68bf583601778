// The probe: its script on this machine, and how its findings are judged.
#include <QtTest>
#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/probe/report.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::probe;

namespace {

const std::string kFixtures = HEDDLE_SOURCE_DIR "/tests/engine/probe/fixtures/";

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

class ProbeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void findings_are_judged_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<Status>("worst");
    QTest::newRow("a node with GPUs") << "gpu_node" << Status::pass;
    QTest::newRow("GPUs that others use, of two sockets") << "shared_gpu_node" << Status::warn;
    QTest::newRow("a GPU and a driver that are too old") << "old_gpu_node" << Status::fail;
    QTest::newRow("a node on which little will run") << "poor_node" << Status::fail;
  }
  void findings_are_judged() {
    QFETCH(QString, name);
    QFETCH(Status, worst);
    const std::string file = kFixtures + name.toStdString();
    const auto report = judge(text_of(file + ".txt"), 1700000000, 1700000001);
    QVERIFY(report);
    QCOMPARE(QString::fromStdString(to_text(*report)),
             QString::fromStdString(text_of(file + ".expected")));
    QCOMPARE(report->worst(), worst);
    const auto again = report_from_json(to_json(*report));
    QVERIFY(again);
    QCOMPARE(to_json(*again), to_json(*report));
  }

  void gpus_that_runs_may_see_data() {
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QList<int>>("free");  // GiB, of each that is left
    QTest::newRow("two by index") << "3, 1" << QList<int>{79, 1};
    QTest::newRow("one by UUID") << "GPU-cc" << QList<int>{39};
    QTest::newRow("none behind a wrong one") << "0,9,1" << QList<int>{79};
    QTest::newRow("a part of one") << "MIG-aa11" << QList<int>{79, 1, 39, 79};
    QTest::newRow("none") << "" << QList<int>{};
    QTest::newRow("no such") << "-1" << QList<int>{};
  }
  void gpus_that_runs_may_see() {
    QFETCH(QString, variable);
    QFETCH(QList<int>, free);
    const auto report = judge("cuda_visible\t" + variable.toStdString() + "\n" +
                                  text_of(kFixtures + "shared_gpu_node.txt"),
                              0, 0);
    QVERIFY(report);
    QList<int> found;
    for (const Gpu& gpu : report->gpus) found.append(static_cast<int>(gpu.free_bytes >> 30));
    QCOMPARE(found, free);
    for (const Check& check : report->checks)
      if (check.name == "GPUs")
        QCOMPARE(check.value.find("CUDA_VISIBLE_DEVICES") != std::string::npos, free.size() < 4);
  }

  void what_runs_cannot_use_is_said() {
    const auto old = judge(text_of(kFixtures + "old_gpu_node.txt"), 0, 0);
    QVERIFY(old);
    QVERIFY2(!old->gpu_fault.empty(), old->gpu_fault.c_str());
    const auto fine = judge(text_of(kFixtures + "gpu_node.txt"), 0, 0);
    QCOMPARE(fine->gpu_fault, std::string());
    std::string newer = text_of(kFixtures + "shared_gpu_node.txt");
    for (size_t at; (at = newer.find(", 9.0\n")) != std::string::npos;)
      newer.replace(at, 6, ", 12.0\n");
    const auto unknown_kind = judge(newer, 0, 0);
    QCOMPARE(unknown_kind->gpu_fault, std::string());
    const auto kind = std::ranges::find(unknown_kind->checks, "GPU kind", &Check::name);
    QVERIFY(kind != unknown_kind->checks.end());
    QCOMPARE(kind->status, Status::warn);
  }

  // The gatherer, on an nvidia-smi that answers as a node's.
  void the_script_asks_the_driver() {
    QTemporaryDir folder;
    const std::string tool = folder.filePath("nvidia-smi").toStdString();
    std::ofstream(tool) << R"(#!/bin/sh
case $1 in
  --query-gpu=name,*) printf '%s\n' 'NVIDIA B200, 183359, 580.82.07, 0' 'NVIDIA B200, 183359, 580.82.07, 0' ;;
  --query-gpu=uuid,*) printf '%s\n' 'GPU-1, 00000000:1A:00.0, 182000, 10.0' 'GPU-2, 00000000:2A:00.0, 1000, 10.0' ;;
  --query-compute-apps=*) echo "GPU-2, $PPID, 181000, a program" ;;
  topo) printf '\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-3\nGPU1\tNV18\t X \t0-3\n' ;;
esac
)";
    QVERIFY(QFile::setPermissions(QString::fromStdString(tool), QFile::Permissions(0x7755)));
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", folder.path().toUtf8() + ":" + path);
    qputenv("CUDA_VISIBLE_DEVICES", "0,1");
    const auto report = probe_this_machine(QDir::tempPath().toStdString());
    qputenv("PATH", path);
    qunsetenv("CUDA_VISIBLE_DEVICES");
    QVERIFY2(report, report ? "" : report.error().message.c_str());
    QCOMPARE(report->gpus.size(), size_t{2});
    QCOMPARE(report->gpus[0].name, std::string("NVIDIA B200"));
    QCOMPARE(report->gpus[1].free_bytes, int64_t{1000} << 20);
    QCOMPARE(report->gpus[1].users.size(), size_t{1});
    const GpuUser& user = report->gpus[1].users[0];
    QCOMPARE(user.program, std::string("a program"));
    QCOMPARE(user.bytes, int64_t{181000} << 20);
    QVERIFY(user.pid > 0);
    const auto nvlink = std::ranges::find(report->checks, "NVLink", &Check::name);
    QVERIFY(nvlink != report->checks.end());
    QCOMPARE(nvlink->value, std::string("between all GPUs"));
  }

  void quotas_and_inodes_are_judged_data() {
    QTest::addColumn<QByteArray>("facts");
    QTest::addColumn<QByteArray>("line");
    const QByteArray remedy =
        "(remove files of yours there, or give the target another root folder (--root), as on the "
        "scratch file system)";
    // As quota -w -p prints them behind the device, and lfs quota -q behind the mount point.
    QTest::newRow("room") << QByteArray("quota\t4194304 20971520 31457280 0 1200 0 0 0\n")
                          << QByteArray("pass     quota            4.00 GiB of 30.0 GiB used\n");
    QTest::newRow("full") << QByteArray("quota\t20971520* 20971520 0 6days 1200 0 0 0\n")
                          << "fail     quota            20.0 GiB of 20.0 GiB used " + remedy;
    QTest::newRow("files") << QByteArray("quota\t1024 0 0 - 99500* 90000 100000 3d\n")
                           << "fail     quota            99,500 of 100,000 files used " + remedy;
    QTest::newRow("both") << QByteArray("quota\t1048576 3145728 4194304 - 10 0 100000 -\n")
                          << "warn     quota            1.00 GiB of 4.00 GiB, 10 of 100,000 files "
                             "used " +
                                 remedy;
    QTest::newRow("none") << QByteArray("quota\t1024 0 0 - 10 0 0 -\n") << QByteArray();
    QTest::newRow("no words") << QByteArray("quota\tlost\n") << QByteArray();
    QTest::newRow("no inodes") << QByteArray("inodes\t4\ninodes_free\t0\n")
                               << QByteArray("fail     free inodes      0 (remove files");
    QTest::newRow("as needed") << QByteArray("inodes\t0\ninodes_free\t0\n")
                               << QByteArray("pass     free inodes      as many as needed\n");
    QTest::newRow("no file")
        << QByteArray(
               "disk_free_kib\t9999999\ndisk_folder\t/home\ndisk_writable\tyes\n"
               "disk_fault\tDisk quota exceeded\n")
        << QByteArray(
               "fail     free disk        9.54 GiB at /home, but no file can be written: "
               "Disk quota exceeded (remove files of yours there");
    QTest::newRow("data") << QByteArray(
                                 "disk_free_kib\t262144\ndisk_folder\t/data\n"
                                 "disk_writable\tyes\ndisk_noexec\tyes\nuse\tdata\n")
                          << QByteArray("warn     free disk        256 MiB at /data (inputs");
  }
  void quotas_and_inodes_are_judged() {
    QFETCH(QByteArray, facts);
    QFETCH(QByteArray, line);
    const auto report = judge("host\tnode\n" + facts.toStdString() + "end\tyes\n", 0, 0);
    QVERIFY(report);
    const std::string text = to_text(*report);
    const std::string wanted = line.isEmpty() ? "quota" : line.toStdString();
    QVERIFY2((text.find(wanted) == std::string::npos) == line.isEmpty(), text.c_str());
  }

  void a_script_that_stopped_halfway_is_no_report() {
    QVERIFY(!judge("host\tnode\n", 0, 0));
    QVERIFY(!judge("", 0, 0));
    QVERIFY(!report_from_json("{}"));
  }

  // One of them once overflowed.
  void sizes_that_no_machine_has_are_unknown() {
    const std::string crash = text_of(HEDDLE_SOURCE_DIR
                                      "/tests/fixtures/crash/"
                                      "json-crash-af6a7b9dcfd74ab5438e8bfddeec5c2272e9bc90");
    QVERIFY(crash.find("9223372036854775807") != std::string::npos);
    for (const char* size : {"9223372036854775807", "-1", "-9223372036854775808"}) {
      std::string output;
      for (const char* key : {"memory_kib", "memory_available_kib", "cgroup_room_kib",
                              "shm_free_kib", "disk_free_kib"})
        output += fmt::format("{}\t{}\n", key, size);
      output += fmt::format("gpu\tA, {0}, 1, {0}\ngpu\tB, 81559, 1, {0}\n", size);
      for (const std::string& text : {crash, output + "end\tyes\n"}) {
        const auto report = judge(text, 0, 0);
        if (text == crash && !report) continue;  // it is cut short, too
        QVERIFY(report);
        QCOMPARE(report->free_disk_bytes, int64_t{0});
        for (const Check& check : report->checks)
          if (check.name == "free disk") QCOMPARE(check.status, Status::unknown);
        for (const Gpu& gpu : report->gpus) QCOMPARE(gpu.name, std::string("B"));
      }
    }
    QVERIFY(!judge(std::string(1 << 20, 'x'), 0, 0));
    QVERIFY(judge(std::string(1 << 20, 'x'), 0, 0).error().message.size() < 4000);
    QVERIFY(!report_from_json("{\"cores\":1e999}"));
    QVERIFY(!report_from_json(std::string(1 << 19, '[')));
  }

  void what_cannot_be_told_is_unknown() {
    const auto report = judge("host\tnode\nkernel\tLinux 6\nmachine\tx86_64\nend\tyes\n", 0, 0);
    QVERIFY(report);
    QCOMPARE(report->worst(), Status::unknown);
  }

  void this_machine_is_probed() {
    const auto report = probe_this_machine(QDir::tempPath().toStdString() + "/none/yet");
    QVERIFY2(report, report ? "" : report.error().message.c_str());
    QCOMPARE(report->cores, static_cast<int64_t>(QThread::idealThreadCount()));
    QVERIFY(report->memory_bytes > 0);
    QVERIFY(report->free_disk_bytes > 0);
    QCOMPARE(report->host, QSysInfo::machineHostName().toStdString());
    for (const Check& check : report->checks) {
      QVERIFY2(check.status != Status::unknown, check.name.c_str());
      QCOMPARE(check.advice.empty(), check.status == Status::pass);
    }
    QVERIFY(!QDir(QDir::tempPath() + "/none").exists());
  }
};

HEDDLE_TEST(ProbeTest)
#include "probe_test.moc"
