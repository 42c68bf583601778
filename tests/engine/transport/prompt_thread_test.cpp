// The kernel's view of a thread that asked for short turns.
#include "engine/transport/prompt_thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QTest>
#include <array>
#include <thread>

#include "tests/support/test_class.h"

using namespace heddle;

namespace {

struct Seen {
  std::array<char, 16> name{};
  int nice = 0;
  uint64_t turn_ns = 0;
};

Seen see() {
  Seen seen;
  pthread_getname_np(pthread_self(), seen.name.data(), seen.name.size());
  seen.nice = getpriority(PRIO_PROCESS, 0);
  std::array<uint64_t, 6> attributes{};  // struct sched_attr, whose runtime is the fourth
  if (syscall(SYS_sched_getattr, 0, attributes.data(), sizeof(attributes), 0) == 0)
    seen.turn_ns = attributes[3];
  return seen;
}

}  // namespace

class PromptThreadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void turns_are_short_and_priority_stays() {
    Seen before, after;
    std::thread([&] {
      setpriority(PRIO_PROCESS, 0, 15);
      before = see();
      transport::become_prompt("carrier");
      after = see();
    }).join();
    QCOMPARE(after.name.data(), "carrier");
    QCOMPARE(after.nice, 15);
    // A kernel that gives no thread turns of its own length says 0, before and after.
    const uint64_t shortest = 100'000;
    QVERIFY(before.turn_ns != shortest);
    QCOMPARE(after.turn_ns, before.turn_ns == 0 ? 0 : shortest);
  }
};

HEDDLE_TEST(PromptThreadTest)
#include "prompt_thread_test.moc"
