// The probe: its script on this machine, and how its findings are judged.
#include <QtTest>
#include <fstream>
#include <sstream>

#include "engine/probe/report.h"

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
  void findingsAreJudged_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<Status>("worst");
    QTest::newRow("a node with GPUs") << "gpu_node" << Status::pass;
    QTest::newRow("a node on which little will run") << "poor_node" << Status::fail;
  }
  void findingsAreJudged() {
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

  void aScriptThatStoppedHalfwayIsNoReport() {
    QVERIFY(!judge("host\tnode\n", 0, 0));
    QVERIFY(!judge("", 0, 0));
    QVERIFY(!report_from_json("{}"));
  }

  // One of them once overflowed.
  void sizesThatNoMachineHasAreUnknown() {
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

  void whatCannotBeToldIsUnknown() {
    const auto report = judge("host\tnode\nkernel\tLinux 6\nmachine\tx86_64\nend\tyes\n", 0, 0);
    QVERIFY(report);
    QCOMPARE(report->worst(), Status::unknown);
  }

  void thisMachineIsProbed() {
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

QTEST_GUILESS_MAIN(ProbeTest)
#include "probe_test.moc"
