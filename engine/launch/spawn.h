// Starts one rank's process.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/launch/process.h"

namespace heddle::launch {

struct Program {
  std::vector<std::string> words;        // the program's path and its arguments
  std::vector<std::string> environment;  // NAME=value, all of them
  std::string output;                    // stdout and stderr are appended to this file
  std::vector<int> kept_fds;             // stay open in the program; -1 entries are skipped
  // At nice 10: what shares the machine with people's windows. A GPU waits for the thread that
  // feeds it.
  bool yields = true;
};

/// Starts it in a process group of its own, at nice 10 or more where it yields, stdin empty, no
/// signal blocked; it dies with the thread that started it. An error when it cannot be executed.
Result<ProcessId> spawn(const Program& program);

/// The cores that this process may use.
int usable_cores();

/// Threads of a rank that shares this host with others: OMP_NUM_THREADS, or its share of the cores.
int threads_of_rank(int local_ranks);

/// This process's environment, with OMP_NUM_THREADS = threads_of_rank(local_ranks).
std::vector<std::string> rank_environment(int local_ranks);

}  // namespace heddle::launch
