// `heddle-engine log`: what the ranks and the supervisor of a run directory have logged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::launch {

struct LogOptions {
  std::string run_dir;
  std::optional<int32_t> rank;  // none: all, and the supervisor
  bool follow = false;          // until the run has ended
  bool json = false;
  int64_t steps = 0;  // of the whole run; 0: not known
};

/// Prints a line a record, of all attempts and in order of time, on stdout: when, who, what. The
/// exit code: 0, or 2 and an error on stderr where there is nothing that can be read.
int print_log(const LogOptions& options);

}  // namespace heddle::launch
