#include "tests/engine/kernels/host/emulator.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

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

namespace heddle::emulator {

Position position;

namespace {

constexpr size_t kStack = 128 << 10;
constexpr unsigned kThreads = 1024, kLanes = 32;

enum class At : uint8_t { ready, warp, block, end };

// A thread of a block. It is reused by all blocks: after its end it begins anew.
struct Fiber {
  At at = At::ready;
  bool begun = false;
  unsigned rounds = 0;  // exchanges so far
  jmp_buf place;
  void* kept = nullptr;  // by the sanitizer
  char* stack = nullptr;
};

struct Warp {
  std::array<std::array<uint64_t, kLanes>, 2> values;  // of this round and of the one before
};

// setjmp and longjmp between stacks: swapcontext would make a system call each time.
struct Scheduler {
  std::array<Fiber, kThreads> fibers;
  std::array<Warp, kThreads / kLanes> warps;
  jmp_buf place;
  void* kept = nullptr;
  const void* stack = nullptr;  // its own, for the sanitizer
  size_t stack_size = 0;
  unsigned current = 0;
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
    }
  }

  Fiber& running() { return fibers[current]; }
};

Scheduler& scheduler() {
  static Scheduler one;
  return one;
}

// From a fiber to the scheduler, and back when it is its turn again.
void leave(At at) {
  Scheduler& all = scheduler();
  Fiber& own = all.running();
  own.at = at;
  __sanitizer_start_switch_fiber(&own.kept, all.stack, all.stack_size);
  if (_setjmp(own.place) == 0) _longjmp(all.place, 1);
  __sanitizer_finish_switch_fiber(own.kept, &all.stack, &all.stack_size);
}

void live() {
  Scheduler& all = scheduler();
  __sanitizer_finish_switch_fiber(nullptr, &all.stack, &all.stack_size);
  for (;;) {
    try {
      (*all.kernel)();
    } catch (...) {
      all.thrown = std::current_exception();
    }
    leave(At::end);
  }
}

// The other way round.
void enter(unsigned thread) {
  Scheduler& all = scheduler();
  Fiber& next = all.fibers[thread];
  all.current = thread;
  position.thread = {thread, 0, 0};
  __sanitizer_start_switch_fiber(&all.kept, next.stack, kStack);
  if (_setjmp(all.place) == 0) {
    if (next.begun) _longjmp(next.place, 1);
    next.begun = true;
    static ucontext_t start;
    getcontext(&start);
    start.uc_stack = {.ss_sp = next.stack, .ss_flags = 0, .ss_size = kStack};
    start.uc_link = nullptr;
    makecontext(&start, &live, 0);
    setcontext(&start);
  }
  __sanitizer_finish_switch_fiber(all.kept, nullptr, nullptr);
}

// After a block that did not come to its end.
void forget_fibers() {
  for (Fiber& fiber : scheduler().fibers) {
    if (fiber.begun) ASAN_UNPOISON_MEMORY_REGION(fiber.stack + 4096, kStack - 4096);
    fiber.begun = false;
  }
}

// Until every thread of the warp is at the block's barrier or at its end.
void run_warp(unsigned first, unsigned lanes) {
  Scheduler& all = scheduler();
  for (;;) {
    unsigned shuffling = 0;
    for (unsigned i = 0; i < lanes; ++i) {
      const unsigned lane = all.order == Order::ascending ? i : lanes - 1 - i;
      if (all.fibers[first + lane].at == At::ready) enter(first + lane);
      if (all.thrown) return;
      shuffling += all.fibers[first + lane].at == At::warp ? 1 : 0;
    }
    if (shuffling == 0) return;
    if (shuffling != kLanes) throw std::logic_error("only some lanes of a warp came to a shuffle");
    for (unsigned lane = 0; lane < kLanes; ++lane) all.fibers[first + lane].at = At::ready;
  }
}

void run_block(unsigned threads) {
  Scheduler& all = scheduler();
  for (unsigned i = 0; i < threads; ++i) {
    all.fibers[i].at = At::ready;
    all.fibers[i].rounds = 0;
  }
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
    for (unsigned i = 0; i < threads; ++i) all.fibers[i].at = At::ready;
  }
}

}  // namespace

void set_order(Order order) { scheduler().order = order; }

std::vector<Launch> launches_of(const std::function<void()>& work) {
  std::vector<Launch> launches;
  scheduler().noted = &launches;
  work();
  scheduler().noted = nullptr;
  return launches;
}

void run(const Launch& launch, const std::function<void()>& kernel) {
  const auto [grid, block] = launch;
  if (block.x == 0 || block.x > kThreads || block.y * block.z != 1)
    throw std::logic_error("a block is up to 1024 threads, in one dimension");
  if (grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z != 1)
    throw std::logic_error("a grid has at least one block, at most 65535 in y, and no z");
  Scheduler& all = scheduler();
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
  Scheduler& all = scheduler();
  const unsigned thread = all.current;
  // Two rounds' values are kept: a lane may give its next one before the last has read this.
  auto& values = all.warps[thread / kLanes].values[all.running().rounds++ % 2];
  values[thread % kLanes] = value;
  wait_for_warp();
  return values[from];
}

unsigned ballot(bool value) {
  Scheduler& all = scheduler();
  const unsigned thread = all.current;
  auto& values = all.warps[thread / kLanes].values[all.running().rounds++ % 2];
  values[thread % kLanes] = value ? 1 : 0;
  wait_for_warp();
  unsigned lanes = 0;
  for (unsigned i = 0; i < kLanes; ++i) lanes |= static_cast<unsigned>(values[i]) << i;
  return lanes;
}

}  // namespace heddle::emulator
