// A rank beside its GPU, as a folder describes the machine.
#include "engine/runtime/numa.h"

#include <sched.h>

#include <QTemporaryDir>
#include <QTest>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "tests/support/test_class.h"

using namespace heddle::runtime;

namespace {

cpu_set_t cores_of_this_thread() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) qFatal("sched_getaffinity");
  return cores;
}

int first_of(const cpu_set_t& cores) {
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<size_t>(core), &cores)) return core;
  return -1;
}

}  // namespace

class NumaTest : public QObject {
  Q_OBJECT

  QTemporaryDir sysfs_;
  cpu_set_t before_ = cores_of_this_thread();

  std::string bind(const std::string& node, const std::string& cores) {
    const std::string device = sysfs_.path().toStdString() + "/bus/pci/devices/0000:3b:00.0";
    std::filesystem::create_directories(device);
    std::ofstream(device + "/numa_node") << node << "\n";
    std::ofstream(device + "/local_cpulist") << cores << "\n";
    return bind_to_device("0000:3b:00.0", sysfs_.path().toStdString());
  }

 private Q_SLOTS:
  void cleanup() { sched_setaffinity(0, sizeof(before_), &before_); }

  void threads_run_on_the_cores_of_the_node() {
    // One that is there before, as the driver's are.
    std::mutex mutex;
    std::condition_variable bound;
    bool done = false;
    auto early = std::async(std::launch::async, [&] {
      std::unique_lock lock(mutex);
      bound.wait(lock, [&] { return done; });
      return cores_of_this_thread();
    });
    const int core = first_of(before_);
    const std::string said = bind("1", std::to_string(core) + ",1000-1023");
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    bound.notify_one();
    QCOMPARE(said, "NUMA node 1, 1 of its cores " + std::to_string(core) + ",1000-1023");
    for (const cpu_set_t& cores : {cores_of_this_thread(), early.get(),
                                   std::async(std::launch::async, cores_of_this_thread).get()}) {
      QCOMPARE(CPU_COUNT(&cores), 1);
      QVERIFY(CPU_ISSET(static_cast<size_t>(core), &cores));
    }
  }

  void what_is_not_known_changes_nothing_data() {
    QTest::addColumn<QString>("node");
    QTest::addColumn<QString>("cores");
    QTest::addColumn<QString>("said");
    QTest::newRow("one node") << "-1"
                              << "0-1"
                              << "not bound: the machine is one NUMA node";
    QTest::newRow("no cores of ours") << "0"
                                      << "1022-1023"
                                      << "not bound: this process may use none of NUMA node 0's "
                                         "cores 1022-1023";
    for (const char* list : {"x", "3-1", "0-9999", "1-", "-1", "0;1"})
      QTest::newRow(list) << "0" << list << "not bound: the cores of NUMA node 0 are not known";
  }
  void what_is_not_known_changes_nothing() {
    QFETCH(QString, node);
    QFETCH(QString, cores);
    QFETCH(QString, said);
    QCOMPARE(QString::fromStdString(bind(node.toStdString(), cores.toStdString())), said);
    const cpu_set_t now = cores_of_this_thread();
    QVERIFY(CPU_EQUAL(&now, &before_));
  }

  void a_device_that_is_not_there() {
    const std::string sysfs = sysfs_.path().toStdString();
    for (const char* address : {"", "0000:ff:00.0"})
      QCOMPARE(bind_to_device(address, sysfs), "not bound: the GPU is not in " + sysfs);
  }
};

HEDDLE_TEST(NumaTest)
#include "numa_test.moc"
