#include "engine/launch/process.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace heddle::launch {

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

std::string engine_program() {
  if (const char* named = std::getenv("HEDDLE_ENGINE"); named && *named) return named;
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return path;
}

std::string signal_name(int signal) {
  if (const char* name = sigabbrev_np(signal)) return fmt::format("SIG{}", name);
  return fmt::format("signal {}", signal);
}

double now() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

}  // namespace heddle::launch
