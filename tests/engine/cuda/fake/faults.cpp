#include "faults.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace fake {
namespace {

struct Fault {
  std::string call;
  int nth = 1;
  std::string does;
  int code = 0;
};

std::vector<Fault> faults_of_this_rank() {
  std::vector<Fault> faults;
  const char* text = std::getenv("FAKE_CUDA_FAULTS");
  std::istringstream all(text ? text : "");
  for (std::string one; std::getline(all, one, ';');) {
    std::istringstream words(one);
    int of_rank = 0;
    Fault fault;
    words >> of_rank >> fault.call >> fault.nth >> fault.does;
    if (!words) {
      std::fprintf(stderr, "FAKE_CUDA_FAULTS: \"%s\" is no fault\n", one.c_str());
      _exit(3);
    }
    words >> fault.code;
    if (of_rank == rank()) faults.push_back(fault);
  }
  return faults;
}

std::atomic<int> broken_with = 0;

}  // namespace

int broken() { return broken_with; }

int rank() {
  static const int found = [] {
    std::ifstream file("/proc/self/cmdline");
    for (std::string word; std::getline(file, word, '\0');)
      if (word == "--rank" && std::getline(file, word, '\0')) return std::atoi(word.c_str());
    return 0;
  }();
  return found;
}

Fate fate_of(const char* call, bool captured) {
  static const std::vector<Fault> faults = faults_of_this_rank();
  if (const int error = broken()) return {error, false};
  if (faults.empty()) return {};
  static std::mutex mutex;
  static std::map<std::string, int> counts;
  const std::lock_guard lock(mutex);
  const std::string name = call;
  std::vector<std::string> names{name};
  if (captured) names.push_back(name + "@capture");
  for (const std::string& each : names) {
    const int count = ++counts[each];
    for (const Fault& fault : faults) {
      if (fault.call != each || fault.nth != count) continue;
      note("fault %s %d %s %d", each.c_str(), count, fault.does.c_str(), fault.code);
      if (fault.does == "stalls") return {0, true};
      if (fault.does == "fails") return {fault.code, false};
      if (fault.does == "late") {
        broken_with = fault.code;
        return {};
      }
      if (fault.does == "breaks") {
        broken_with = fault.code;
        return {fault.code, false};
      }
      while (true) pause();  // hangs
    }
  }
  return {};
}

void note(const char* format, ...) {
  static const int file = [] {
    const char* folder = std::getenv("FAKE_CUDA_LOG");
    if (!folder) return -1;
    const std::string path = std::string(folder) + "/rank-" + std::to_string(rank()) + ".log";
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }();
  if (file < 0) return;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof(line) - 1, format, arguments);
  va_end(arguments);
  const int written = length < int(sizeof(line)) - 1 ? length : int(sizeof(line)) - 2;
  line[written] = '\n';
  [[maybe_unused]] const ssize_t done = write(file, line, static_cast<size_t>(written) + 1);
}

}  // namespace fake
