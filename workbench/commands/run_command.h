// The headless commands of `heddle`, --demo, --help and --version among them. No widgets;
// gui/main.cpp calls this when there is no window to open.
#pragma once

#include <string>
#include <vector>

namespace heddle::workbench {

/// True when the arguments name one of them, before or after `--store FILE`.
bool is_command(int argc, char** argv);

/// "launch", "stop" …: all of them, "render" too.
std::vector<std::string> command_names();

/// Runs it: results on stdout, errors on stderr. Returns the design's exit code: 0 done, 1 the job
/// failed, 2 bad usage or recipe, 130 stopped by the user.
int run_command(int argc, char** argv);

}  // namespace heddle::workbench
