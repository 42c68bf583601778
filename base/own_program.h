// The file of the program that this process runs.
#pragma once

#include <string>

namespace heddle {

/// Its absolute path. A program that a loader was told to run has the loader as its /proc/self/exe
/// (bundles and the portable archive start that way); this is the program itself.
std::string own_program();

/// Whether a loader was told to run this program: its file cannot be started by itself then.
bool started_by_loader();

}  // namespace heddle
