// The cores that this process may use.
#pragma once

namespace heddle {

int usable_cores();

/// Threads of a rank that shares this host with others: OMP_NUM_THREADS, or its share of the cores.
int threads_of_rank(int local_ranks);

}  // namespace heddle
