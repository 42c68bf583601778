#include "engine/transport/prompt_thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/guard.h"

namespace heddle::transport {
namespace {

// The kernel's struct sched_attr, first version: its header clashes with <sched.h>.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;  // ns
};
static_assert(sizeof(Attributes) == 48);

}  // namespace

void become_prompt(const char* name) {
  pthread_setname_np(pthread_self(), name);
  Attributes wanted;
  wanted.policy = static_cast<uint32_t>(sched_getscheduler(0));
  wanted.nice = getpriority(PRIO_PROCESS, 0);
  wanted.runtime = 100'000;
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

std::thread prompt_thread(const char* name, std::function<void()> body) {
  return std::thread([name, body = std::move(body)] {
    become_prompt(name);
    guarded_thread(name, body);
  });
}

}  // namespace heddle::transport
