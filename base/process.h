// Running a program on this machine to its end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::process {

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::string input = {};         // its stdin
  std::chrono::milliseconds deadline{30000};
  size_t most_output = size_t{16} << 20;  // bytes of stdout and stderr together
};

struct Completed {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

/// Runs argv (no shell) in its own process group, without a terminal. A non-zero exit code is no
/// error; a program that cannot be started is, and so are the deadline and more output than asked
/// for, at which the group is killed. Blocks; any thread.
Result<Completed> run(const Command& command);

}  // namespace heddle::process
