// Starts one rank's process.
#pragma once

#include <string>
#include <vector>

#include "base/process_id.h"
#include "base/result.h"

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

/// Lowers this process's session to nice 10, the ranks in it included, unless it shares the session
/// with its parent, such as a shell. Where the kernel divides the CPU between sessions first
/// (autogroup, the default of desktops; man 7 sched), a process's own nice value counts only within
/// its session. Does nothing where there are no autogroups.
void yield_session();

/// Turns that a thread spins for while it waits for work (GOMP_SPINCOUNT), before it sleeps.
/// `busy`: threads that others run here. Where cores are shared a thread that spins keeps the one
/// that it waits for from running: libgomp's own 300,000 turns made steps ten times as long there.
/// Where they are not, 4,000 are as fast as 300,000, and cost less once others begin to run.
int spins_while_waiting(double busy, int threads, int cores);

/// This process's environment, with OMP_NUM_THREADS = threads_of_rank(local_ranks), and how they
/// wait unless that is set.
std::vector<std::string> rank_environment(int local_ranks);

}  // namespace heddle::launch
