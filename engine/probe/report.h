// A node's report: the facts one portable shell script gathers, judged here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::probe {

enum class Status { pass, warn, fail, unknown };

/// One thing looked at. `advice` says what to do; empty when it passes.
struct Check {
  std::string name;  // "memory", "free disk", "GPUs" …
  Status status = Status::unknown;
  std::string value;  // as shown: "31.1 GiB"
  std::string advice;
  bool of_gpus = false;  // runs on CPUs need not care
};

/// A process that holds memory of a GPU.
struct GpuUser {
  std::string user;  // empty: not known, as of another container
  int64_t pid = 0;
  int64_t bytes = 0;  // 0: not known
  std::string program;
};

struct Gpu {
  std::string name;
  int64_t memory_bytes = 0;
  std::string driver;
  int64_t free_bytes = -1;  // −1: not known
  int64_t numa_node = -1;   // −1: the machine has none, or it is not known
  std::vector<GpuUser> users = {};
};

struct Report {
  std::string host;   // the node's own host name
  double time = 0;    // when it answered, this machine's clock, Unix seconds; 0: not known
  int64_t cores = 0;  // usable by this user
  int64_t memory_bytes = 0;
  int64_t available_bytes = 0;      // of memory: what the machine and this process's cgroup leave
  int64_t shared_memory_bytes = 0;  // free in /dev/shm
  int64_t free_disk_bytes = 0;      // at the root folder
  std::vector<Gpu> gpus;            // that CUDA_VISIBLE_DEVICES lets runs see
  std::string gpu_fault = {};       // why runs cannot use them; empty: they can
  std::vector<Check> checks;
  Status worst() const;  // fail over warn over unknown over pass
};

/// The fixed /bin/sh script; its first argument is the root folder; a second one, "memory", asks
/// for cores and memory alone. Prints `key<TAB>value` lines.
const std::string& script();

/// The part of it that defines `cuda_folders`, a function of the shell: prints the folders in which
/// libraries of CUDA and of LibTorch may lie, a line each.
const std::string& cuda_folders();

/// Judges the script's output. `asked` and `answered`: this machine's clock (Unix seconds) before
/// and after the script ran.
Result<Report> judge(const std::string& output, double asked, double answered);

/// $HOME/.heddle: where this machine keeps engines and runs.
std::string root_here();

/// Runs the script on this machine.
Result<Report> probe_this_machine(const std::string& root = root_here());

/// Its cores and memory alone, without checks: takes some milliseconds.
Result<Report> memory_of_this_machine();

std::string to_json(const Report& report);
Result<Report> report_from_json(const std::string& text);
/// A line a check, for the terminal.
std::string to_text(const Report& report);
std::string_view word(Status status);  // "pass" …

/// `heddle-engine probe [--json]`: prints the report of this machine. Exit code 0, or 1 without
/// one.
int command(bool json);

}  // namespace heddle::probe
