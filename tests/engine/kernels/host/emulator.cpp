#include "tests/engine/kernels/host/emulator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(kept, stack, size) ((void)(kept))
#define __sanitizer_finish_switch_fiber(kept, stack, size) ((void)(kept))
#define ASAN_UNPOISON_MEMORY_REGION(stack, size) ((void)(stack))
#endif

// Leaves the running stack, whose top it notes, for another one that was left.
extern "C" void heddle_switch_stack(void** left, void* to);
#if !defined(__x86_64__)
#error "written for x86-64, as Heddle is"
#endif
asm(R"(
  .text
  .type heddle_switch_stack, @function
heddle_switch_stack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size heddle_switch_stack, . - heddle_switch_stack
)");

namespace heddle::emulator {

Position position;

namespace {

// Stacks whose tops are in the same cache set would take turns there: they are not a power of two
// apart, nor are all tops at the same place of a page.
constexpr size_t kStack = 132 << 10, kTops = 4096, kTop = 256;
constexpr unsigned kThreads = 1024, kLanes = 32;

enum class At : uint8_t { warp, block, end };  // where a thread waits

// A thread of a block. It is reused by all blocks: after its end it begins again.
struct Fiber {
  At at = At::end;
  unsigned rounds = 0;   // exchanges so far
  void* top = nullptr;   // of its stack, where it was left
  void* kept = nullptr;  // by the sanitizer
  char* stack = nullptr;
};

struct Warp {
  std::array<std::array<uint64_t, kLanes>, 2> values;  // of this round and of the one before
};

void live();

struct Scheduler {
  std::array<Fiber, kThreads> fibers;
  std::array<Warp, kThreads / kLanes> warps;
  void* top = nullptr;
  void* kept = nullptr;
  const void* stack = nullptr;  // its own, for the sanitizer
  size_t stack_size = 0;
  unsigned current = 0, last = 0;  // threads: the running one, and the last one of its warp
  Order order = Order::ascending;
  const std::function<void()>* kernel = nullptr;
  std::exception_ptr thrown;
  std::vector<Launch>* noted = nullptr;

  Scheduler() {
    void* stacks = mmap(nullptr, kThreads * kStack, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) throw std::runtime_error("no memory for the threads of a block");
    for (unsigned i = 0; i < kThreads; ++i) {
      fibers[i].stack = static_cast<char*>(stacks) + i * kStack;
      mprotect(fibers[i].stack, 4096, PROT_NONE);
      begin(fibers[i]);
    }
  }

  // As if it had been left at the entry of live(), which expects a return address below 16 bytes.
  void begin(Fiber& fiber) {
    const auto thread = static_cast<size_t>(&fiber - fibers.data());
    auto** top = reinterpret_cast<void**>(fiber.stack + kStack - thread * kTop % kTops) - 8;
    std::fill(top, top + 8, nullptr);
    top[6] = reinterpret_cast<void*>(&live);
    fiber.top = top;
  }

  Fiber& running() { return fibers[current]; }
};

Scheduler scheduler;

// Switches from the running stack to a thread's, until it is this one's turn again.
void enter(unsigned thread, void** left, void** kept) {
  Fiber& next = scheduler.fibers[thread];
  scheduler.current = thread;
  position.thread = {thread, 0, 0};
  __sanitizer_start_switch_fiber(kept, next.stack, kStack);
  heddle_switch_stack(left, next.top);
}

// From a thread to the next one of its warp, from the last one to the scheduler.
void leave(At at) {
  Scheduler& all = scheduler;
  Fiber& own = all.running();
  own.at = at;
  if (all.current != all.last && !all.thrown) {
    enter(all.order == Order::ascending ? all.current + 1 : all.current - 1, &own.top, &own.kept);
  } else {
    __sanitizer_start_switch_fiber(&own.kept, all.stack, all.stack_size);
    heddle_switch_stack(&own.top, all.top);
  }
  __sanitizer_finish_switch_fiber(own.kept, nullptr, nullptr);
}

void live() {
  Scheduler& all = scheduler;
  const void* stack = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &stack, &size);
  if (!all.stack) {  // the first of all
    all.stack = stack;
    all.stack_size = size;
  }
  for (;;) {
    try {
      (*all.kernel)();
    } catch (...) {
      all.thrown = std::current_exception();
    }
    leave(At::end);
  }
}

// Cleans up after a block that did not finish.
void forget_fibers() {
  for (Fiber& fiber : scheduler.fibers) {
    ASAN_UNPOISON_MEMORY_REGION(fiber.stack + 4096, kStack - 4096);
    scheduler.begin(fiber);
  }
}

// Until every thread of the warp is at the block's barrier or at its end.
void run_warp(unsigned first, unsigned lanes) {
  Scheduler& all = scheduler;
  const unsigned last = first + lanes - 1;
  const bool ascending = all.order == Order::ascending;
  for (;;) {
    all.last = ascending ? last : first;
    enter(ascending ? first : last, &all.top, &all.kept);
    __sanitizer_finish_switch_fiber(all.kept, nullptr, nullptr);
    if (all.thrown) return;
    unsigned shuffling = 0;
    for (unsigned i = first; i <= last; ++i) shuffling += all.fibers[i].at == At::warp ? 1 : 0;
    if (shuffling == 0) return;
    if (shuffling != kLanes) throw std::logic_error("only some lanes of a warp came to a shuffle");
  }
}

void run_block(unsigned threads) {
  Scheduler& all = scheduler;
  for (unsigned i = 0; i < threads; ++i) all.fibers[i].rounds = 0;
  const unsigned warps = (threads + kLanes - 1) / kLanes;
  for (;;) {
    for (unsigned i = 0; i < warps; ++i) {
      const unsigned warp = all.order == Order::ascending ? i : warps - 1 - i;
      run_warp(warp * kLanes, std::min(kLanes, threads - warp * kLanes));
      if (all.thrown) std::rethrow_exception(std::exchange(all.thrown, nullptr));
    }
    unsigned ended = 0;
    for (unsigned i = 0; i < threads; ++i) ended += all.fibers[i].at == At::end ? 1 : 0;
    if (ended == threads) return;
    if (ended != 0) throw std::logic_error("only some threads of a block came to a barrier");
  }
}

}  // namespace

void set_order(Order order) { scheduler.order = order; }

std::vector<Launch> launches_of(const std::function<void()>& work) {
  std::vector<Launch> launches;
  scheduler.noted = &launches;
  work();
  scheduler.noted = nullptr;
  return launches;
}

void run(const Launch& launch, const std::function<void()>& kernel) {
  const auto [grid, block] = launch;
  if (block.x == 0 || block.x > kThreads || block.y * block.z != 1)
    throw std::logic_error("a block is up to 1024 threads, in one dimension");
  if (grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z != 1)
    throw std::logic_error("a grid has at least one block, at most 65535 in y, and no z");
  Scheduler& all = scheduler;
  if (all.noted) {
    all.noted->push_back(launch);
    return;
  }
  all.kernel = &kernel;
  position.block_size = block;
  position.grid_size = grid;
  try {
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        position.block = {x, y, 0};
        run_block(block.x);
      }
  } catch (...) {
    forget_fibers();
    throw;
  }
}

void wait_for_block() { leave(At::block); }
void wait_for_warp() { leave(At::warp); }

uint64_t exchange(uint64_t value, unsigned from) {
  Scheduler& all = scheduler;
  const unsigned thread = all.current;
  // Two rounds' values are kept: a lane may give its next one before the last has read this.
  auto& values = all.warps[thread / kLanes].values[all.running().rounds++ % 2];
  values[thread % kLanes] = value;
  wait_for_warp();
  return values[from];
}

unsigned ballot(bool value) {
  Scheduler& all = scheduler;
  const unsigned thread = all.current;
  auto& values = all.warps[thread / kLanes].values[all.running().rounds++ % 2];
  values[thread % kLanes] = value ? 1 : 0;
  wait_for_warp();
  unsigned lanes = 0;
  for (unsigned i = 0; i < kLanes; ++i) lanes |= static_cast<unsigned>(values[i]) << i;
  return lanes;
}

}  // namespace heddle::emulator
