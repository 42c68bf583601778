#include "base/process_id.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

namespace heddle {

namespace {

/// /proc/PID/stat from the third field, the state, on; empty where there is no such process.
std::istringstream stat_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything; what follows the last one is plain.
  const size_t name_end = line.rfind(')');
  return std::istringstream(name_end == std::string::npos ? "" : line.substr(name_end + 1));
}

}  // namespace

ProcessId identify(pid_t pid) {
  if (pid <= 0) return {};
  std::istringstream fields = stat_of(pid);
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return {};
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  ProcessId id{pid, 0};
  fields >> id.start_time;
  return fields ? id : ProcessId{};
}

bool lives(const ProcessId& process, uid_t owner) {
  struct stat about {};
  return process.pid > 1 && identify(process.pid) == process &&
         stat(fmt::format("/proc/{}", process.pid).c_str(), &about) == 0 && about.st_uid == owner;
}

bool is_stopped(pid_t pid) {
  std::string state;
  stat_of(pid) >> state;
  return state == "T";
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace heddle
