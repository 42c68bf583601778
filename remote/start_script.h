// The script that starts a run's supervisor where the target has a prelude or a container. It is in
// the run directory, and is given the engine's own arguments.
//
// The prelude is sourced by bash, where there is one, else by sh, without a terminal or an input.
// What it prints is in the run directory's prelude.log, so that it can neither be taken for an
// answer nor keep a connection open; its exit code is in prelude.code, which is missing where the
// prelude has ended or replaced the shell.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::remote {

inline constexpr const char* kStartScript = "start.sh";
inline constexpr const char* kPrelude = "prelude";
inline constexpr const char* kPreludeLog = "prelude.log";
inline constexpr const char* kPreludeCode = "prelude.code";

/// Whether the target's supervisors are started by such a script.
bool has_start_script(const Target& target);

/// Paths on the host, absolute.
struct StartFolders {
  std::string engine;
  std::vector<std::string> bound;  // in a container they are the same
};

/// For a sound target.
std::string start_script(const Target& target, const StartFolders& folders, bool gpus);

/// A part of it, for the target's check. Sources $heddle_dir/prelude: its output is in prelude.log,
/// its exit code in prelude.code and in $heddle_code; the shell's PATH, HOME and folder before it
/// are in $heddle_path, $heddle_home and $heddle_cwd.
extern const char* const kSourcePrelude;

}  // namespace heddle::remote
