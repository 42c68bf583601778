#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace heddle {

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? std::max(1, CPU_COUNT(&cores)) : 1;
}

int threads_of_rank(int local_ranks) {
  if (const char* set = std::getenv("OMP_NUM_THREADS"))
    if (const int threads = std::atoi(set); threads > 0) return threads;
  return std::max(1, usable_cores() / local_ranks);
}

}  // namespace heddle
