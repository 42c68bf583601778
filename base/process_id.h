// A process's identity that survives pid reuse and reboots.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace heddle {

/// A process of this host: its pid alone may be given to another one later.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time = 0;  // clock ticks since boot: field 22 of /proc/PID/stat
  bool operator==(const ProcessId&) const = default;
};

/// The identity of a process that exists, {0, 0} when there is none or it is a zombie.
ProcessId identify(pid_t pid);

/// Whether it exists and belongs to `owner`. A file may name any pid: those below 2 are no process
/// of a run, since kill() takes 0 and negative ones for groups, and 1 is init.
bool lives(const ProcessId& process, uid_t owner);

/// Whether somebody has stopped it (SIGSTOP, SIGTSTP): it does nothing until it is continued.
bool is_stopped(pid_t pid);

/// The kernel's /proc/sys/kernel/random/boot_id.
std::string boot_id();

}  // namespace heddle
