#include "engine/runtime/numa.h"

#include <errno.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

std::string line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// "0-3,8-11"; nothing where that is no list of cores.
std::optional<cpu_set_t> cores_of(const std::string& list) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = -1, last = -1;
    const char* end = range.data() + range.size();
    auto read = std::from_chars(range.data(), end, first);
    last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first ||
        last >= CPU_SETSIZE)
      return std::nullopt;
    for (int core = first; core <= last; ++core) CPU_SET(static_cast<size_t>(core), &cores);
  }
  return cores;
}

/// Binds every thread that there is. The first error number; 0: none.
int bind_threads(const cpu_set_t& cores) {
  std::error_code error;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", error)) {
    const int id = std::atoi(thread.path().filename().c_str());
    // One that has ended meanwhile needs no binding.
    if (sched_setaffinity(id, sizeof(cores), &cores) != 0 && errno != ESRCH) return errno;
  }
  return error ? error.value() : 0;
}

/// New pages of this thread, and of those that it starts, come from the node while it has some.
void prefer_memory_of(int node) {
  constexpr int kMaxNodes = 1024;
  unsigned long nodes[kMaxNodes / (8 * sizeof(unsigned long))] = {};
  if (node < 0 || node >= kMaxNodes) return;
  constexpr int kBits = 8 * sizeof(unsigned long);
  nodes[node / kBits] |= 1UL << (node % kBits);
  // A container may forbid it; then pages come from where a thread runs, which is the node.
  (void)syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, kMaxNodes);
}

}  // namespace

std::string bind_to_device(const std::string& pci_address, const std::string& sysfs) {
  const std::string device = sysfs + "/bus/pci/devices/" + pci_address;
  if (pci_address.empty() || !fs::exists(device)) return "not bound: the GPU is not in " + sysfs;
  const std::string text = line_of(device + "/numa_node"),
                    list = line_of(device + "/local_cpulist");
  int node = -1;
  std::from_chars(text.data(), text.data() + text.size(), node);
  if (node < 0) return "not bound: the machine is one NUMA node";
  std::optional<cpu_set_t> cores = cores_of(list);
  cpu_set_t allowed;
  if (!cores || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return fmt::format("not bound: the cores of NUMA node {} are not known", node);
  CPU_AND(&*cores, &*cores, &allowed);
  if (CPU_COUNT(&*cores) == 0)
    return fmt::format("not bound: this process may use none of NUMA node {}'s cores {}", node,
                       list);
  if (const int error = bind_threads(*cores); error != 0)
    return fmt::format("not bound to NUMA node {}: {}", node, strerror(error));
  prefer_memory_of(node);
  return fmt::format("NUMA node {}, {} of its cores {}", node, CPU_COUNT(&*cores), list);
}

}  // namespace heddle::runtime
