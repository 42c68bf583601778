// What ends a run, or interrupts it, does to its training, in words: the same for the window and
// the shell.
#pragma once

#include <string>

#include "storage/run.h"

namespace heddle::workbench {

/// Whether a stop keeps what was trained: the run keeps checkpoints.
bool stop_keeps(const storage::RunDetail& run);

/// "It finishes its step, writes a checkpoint in …, and ends." or what is lost.
std::string describe_stop(const storage::RunDetail& run);

/// "All ranks end at once. Training since step 30, the newest checkpoint, is lost; …" Looks
/// for that on the run's hosts, and says why it could not: never call from the GUI thread.
std::string describe_kill(const storage::RunDetail& run);

/// For a stopped run: "after step 1,266; checkpoint step-1266 is in …", or why there is none.
/// Looks on its hosts too.
std::string describe_stopped(const storage::RunDetail& run);

/// "restarted 2 times, last after: rank 1 was killed by SIGKILL"; empty: it never was.
std::string describe_restarts(const storage::RunDetail& run);

}  // namespace heddle::workbench
