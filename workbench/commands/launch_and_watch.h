// Launch, follow and print to the end: `launch --wait` and the demo.
#pragma once

#include <string>

#include "base/progress_line.h"
#include "workbench/launch.h"

namespace heddle::workbench {

/// Prints a launch's progress and warnings to stderr; progress, when that is a terminal, on one
/// line that is rewritten.
class TerminalProgress {
 public:
  bool operator()(const std::string& what, uint64_t done, uint64_t total);
  /// Prints what the preflight warns of.
  void operator()(const std::vector<Finding>& findings);

 private:
  ProgressLine line_;
  std::string last_;
};

/// The fault lines of a bad recipe and what the preflight refuses as they are, else the message;
/// gives the exit code.
int report_launch(const LaunchError& error);

struct Watched {
  int exit_code = 0;
  storage::CreatedRun run;  // id 0: there is none
};

/// "debug (run 3) is running on lab"; of a job that waits, what for.
std::string launched_text(const std::string& store_path, const storage::CreatedRun& run,
                          const std::string& target);

/// Ctrl+C asks the run to stop, a second one leaves it running.
Watched launch_and_watch(const std::string& store_path, const LaunchRequest& request);

}  // namespace heddle::workbench
