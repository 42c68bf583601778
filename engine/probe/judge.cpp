// From the script's lines to pass, warn, fail or unknown: every threshold of the probe, but the
// GPUs', is here.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/excerpt.h"
#include "base/number_text.h"
#include "engine/probe/facts.h"

namespace heddle::probe {
namespace {

constexpr int64_t kKiB = 1024;

// More is no machine's: a number that is larger, or negative, was not told by its kernel.
constexpr int64_t kMaxKiB = int64_t{1} << 42;  // 4 PiB

/// A size, in bytes.
std::optional<int64_t> bytes_of(const Facts& facts, const std::string& key) {
  const auto kib = number_of(facts, key);
  if (!kib || *kib < 0 || *kib > kMaxKiB) return std::nullopt;
  return *kib * kKiB;
}

Check system(const Facts& facts) {
  const std::string machine = text_of(facts, "machine");
  const std::string kernel = text_of(facts, "kernel");
  const bool runs = machine == "x86_64" && kernel.starts_with("Linux ");
  return check("system", runs ? Status::pass : Status::fail, kernel + ", " + machine,
               "the engine is built for Linux on x86_64");
}

Check glibc(const Facts& facts) {
  const std::string version = text_of(facts, "glibc");
  if (version.empty())
    return unknown("glibc", "the engine brings its own, so this should do no harm");
  return check("glibc", Status::pass, version, "");
}

Check cores(const Facts& facts) {
  const auto count = number_of(facts, "cores");
  if (!count) return unknown("cores", "nproc is missing there");
  return check("cores", Least{1, 2}.of(static_cast<double>(*count)),
               count_text(static_cast<double>(*count)), "two ranks will take turns on one core");
}

/// Processes that want a core, over the last minute; none where the system does not say.
std::optional<Check> load(const Facts& facts) {
  const auto cores = number_of(facts, "cores");
  const std::string text = text_of(facts, "load");
  double busy = -1;
  std::istringstream(text) >> busy;
  if (!cores || *cores <= 0 || busy < 0) return std::nullopt;
  const bool free = busy < static_cast<double>(*cores);
  const std::string all =
      *cores == 1 ? "1 core" : count_text(static_cast<double>(*cores)) + " cores";
  return check("load", free ? Status::pass : Status::warn,
               free ? fmt::format("{:.1f} of {} busy", busy, all)
                    : fmt::format("{:.1f} processes for {}", busy, all),
               "other programs use this host: a run will be slower than predicted");
}

/// The lesser of the machine's and the cgroup's.
std::optional<int64_t> available(const Facts& facts) {
  const auto of_machine = bytes_of(facts, "memory_available_kib");
  const auto of_cgroup = bytes_of(facts, "cgroup_room_kib");
  if (of_machine && of_cgroup) return std::min(*of_machine, *of_cgroup);
  return of_machine;
}

Check memory(const Facts& facts) {
  const auto total = bytes_of(facts, "memory_kib");
  const auto free = available(facts);
  if (!total || !free) return unknown("memory", "/proc/meminfo cannot be read there");
  const bool limited = free < bytes_of(facts, "memory_available_kib");
  const std::string value = fmt::format("{} free of {}{}", size_text(*free), size_text(*total),
                                        limited ? ", by a cgroup's limit" : "");
  return check(
      "memory", Least{1, 4}.of(static_cast<double>(*free) / kGiB), value,
      "a small model with two ranks takes about 2 GiB: end other programs, or use a larger host");
}

Check disk(const Facts& facts) {
  const auto free = bytes_of(facts, "disk_free_kib");
  const std::string folder = text_of(facts, "disk_folder");
  if (!free) return unknown("free disk", "df gives no answer for " + folder);
  const std::string value = size_text(*free) + " at " + folder;
  if (text_of(facts, "disk_writable") != "yes") {
    return check("free disk", Status::fail, value,
                 "you may not write there: give the target another root folder (--root)");
  }
  const bool for_data = text_of(facts, "use") == "data";
  if (text_of(facts, "disk_noexec") == "yes" && !for_data) {
    return check("free disk", Status::fail, value,
                 "programs may not be run from there (noexec): give the target another root "
                 "folder (--root)");
  }
  if (const std::string fault = text_of(facts, "disk_fault"); !fault.empty()) {
    return check("free disk", Status::fail,
                 fmt::format("{}, but no file can be written: {}", value, excerpt(fault, 200)),
                 "remove files of yours there, or give the target another root folder (--root)");
  }
  if (for_data)
    return check("free disk", Least{0.0625, 1}.of(static_cast<double>(*free) / kGiB), value,
                 "inputs and their tokens are kept there: free some space, or give the target "
                 "another folder (--root)");
  return check(
      "free disk", Least{1, 5}.of(static_cast<double>(*free) / kGiB), value,
      "the engine takes 0.5 GiB, and logs and checkpoints come on top: free some space, or give "
      "the target another root folder (--root)");
}

Check inodes(const Facts& facts) {
  const auto free = number_of(facts, "inodes_free");
  // Some file systems make inodes as needed: they have 0 or "-" of them.
  if (!free || number_of(facts, "inodes").value_or(*free) == 0)
    return {"free inodes", Status::pass, "as many as needed", ""};
  return check("free inodes", Least{1000, 10000}.of(static_cast<double>(*free)),
               count_text(static_cast<double>(*free)),
               "remove files that are no longer needed, or give the target another root folder "
               "(--root)");
}

/// One of a quota's two halves: "1234* 1000 2000 -" of bytes or of files.
struct Allowance {
  int64_t used = 0;
  int64_t limit = 0;  // 0: none

  static Allowance read(std::istringstream& words) {
    std::string used, soft, hard, grace;
    words >> used >> soft >> hard >> grace;
    Allowance read;
    read.used = std::strtoll(used.c_str(), nullptr, 10);
    read.limit = std::strtoll(hard.c_str(), nullptr, 10);
    if (read.limit == 0) read.limit = std::strtoll(soft.c_str(), nullptr, 10);
    return read;
  }
  int64_t left() const { return std::max<int64_t>(limit - used, 0); }
};

/// The user's own share of the disk; none where nobody limits it.
std::optional<Check> quota(const Facts& facts) {
  const std::string text = text_of(facts, "quota");
  if (text.empty()) return std::nullopt;
  std::istringstream words(text);
  Allowance bytes = Allowance::read(words);
  const Allowance files = Allowance::read(words);
  if (bytes.limit > kMaxKiB || bytes.used > kMaxKiB) return std::nullopt;
  std::string value;
  Status status = Status::pass;
  if (bytes.limit > 0) {
    value = fmt::format("{} of {}", size_text(bytes.used * kKiB), size_text(bytes.limit * kKiB));
    status = Least{1, 5}.of(static_cast<double>(bytes.left() * kKiB) / kGiB);
  }
  if (files.limit > 0) {
    value += fmt::format("{}{} of {} files", value.empty() ? "" : ", ",
                         count_text(static_cast<double>(files.used)),
                         count_text(static_cast<double>(files.limit)));
    const Status of_files = Least{1000, 10000}.of(static_cast<double>(files.left()));
    if (of_files == Status::fail || status == Status::pass) status = of_files;
  }
  if (value.empty()) return std::nullopt;
  return check("quota", status, value + " used",
               "remove files of yours there, or give the target another root folder (--root), as "
               "on the scratch file system");
}

/// Ranks on CPUs read each other's memory; NCCL goes through here.
Check shared_memory(const Facts& facts, bool gpus) {
  const auto free = bytes_of(facts, "shm_free_kib");
  if (!gpus)
    return check("/dev/shm", Status::pass,
                 free ? size_text(*free) + " free" : "none: only ranks on GPUs need it", "");
  if (!free) return unknown("/dev/shm", "ranks on GPUs exchange data there: mount a tmpfs on it");
  return check("/dev/shm", Least{0.0625, 1}.of(static_cast<double>(*free) / kGiB),
               size_text(*free) + " free",
               "ranks on GPUs exchange data there: mount it larger (a container: --shm-size)");
}

Check clock(const Facts& facts, double asked, double answered) {
  const std::string text = text_of(facts, "clock");
  double there = 0;
  std::istringstream(text) >> there;
  if (there == 0) return unknown("clock", "date gives no answer there");
  // Read somewhere between question and answer: the time between them is no offset.
  const double offset = there < asked ? there - asked : std::max(0.0, there - answered);
  const Status status = std::abs(offset) < 1 ? Status::pass : Status::warn;
  return check("clock", status, fmt::format("{:+.1f} s", offset),
               "times of this host's logs will be off: run an NTP client there");
}

Facts parse(const std::string& output) {
  Facts facts;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) facts.emplace(line.substr(0, tab), trimmed(line.substr(tab + 1)));
  }
  return facts;
}

}  // namespace

Result<Report> judge(const std::string& output, double asked, double answered) {
  const Facts facts = parse(output);
  if (text_of(facts, "end") != "yes")
    return fail("the probe's script did not finish: {}", excerpt(output));
  Report report;
  report.host = text_of(facts, "host");
  report.cores = number_of(facts, "cores").value_or(0);
  report.memory_bytes = bytes_of(facts, "memory_kib").value_or(0);
  report.available_bytes = available(facts).value_or(0);
  report.shared_memory_bytes = bytes_of(facts, "shm_free_kib").value_or(0);
  report.free_disk_bytes = bytes_of(facts, "disk_free_kib").value_or(0);
  report.checks = {system(facts),
                   glibc(facts),
                   cores(facts),
                   memory(facts),
                   disk(facts),
                   inodes(facts),
                   shared_memory(facts, facts.contains("gpu"))};
  report.checks.push_back(limit(facts, "nofile", "open files", {256, 1024},
                                "raise the limit: ulimit -n 4096, or /etc/security/limits.conf"));
  if (auto busy = load(facts)) report.checks.insert(report.checks.begin() + 3, std::move(*busy));
  if (auto own = quota(facts)) report.checks.push_back(std::move(*own));
  report.time = answered;
  report.checks.push_back(clock(facts, asked, answered));
  GpuFindings found = judge_gpus(facts);
  report.gpus = std::move(found.gpus);
  report.gpu_fault = std::move(found.fault);
  for (Check& next : found.checks) report.checks.push_back(std::move(next));
  return report;
}

}  // namespace heddle::probe
