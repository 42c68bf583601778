// Judges a node's GPUs: every threshold of theirs is here.
#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "engine/probe/facts.h"

namespace heddle::probe {
namespace {

// More is no machine's: a number that is larger, or negative, was not told by its driver.
constexpr int64_t kMaxMiB = int64_t{1} << 32;  // 4 PiB
constexpr size_t kMaxGpus = 64;
constexpr size_t kMaxUsers = 8;  // of a GPU
constexpr int64_t kMaxErrors = int64_t{1} << 40;

// The first driver of CUDA 13 (NVIDIA's release notes), which the plug-in is built with.
constexpr int kOldestDriver = 580;
// Compute capabilities: the first that kernels are compiled for, and the last
// (HEDDLE_CUDA_ARCHITECTURES); LibTorch's attention needs the first as well.
constexpr double kOldestCapability = 8.0, kNewestCapability = 10.9;
// A share of its memory; a desktop takes as much.
constexpr double kFree = 0.95;

/// A GPU as the script tells of it: what runs see, and what only the checks need.
struct Seen {
  Gpu gpu;
  std::string uuid;
  double capability = 0;  // 9.0; 0: not known
};

template <typename Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// In bytes.
std::optional<int64_t> mebibytes(const std::string& text) {
  const auto value = parsed<int64_t>(text);
  if (!value || *value < 0 || *value > kMaxMiB) return std::nullopt;
  return *value << 20;
}

std::optional<Seen> gpu_of(const std::string& line, int64_t& ecc_errors) {
  const std::vector<std::string> words = words_of(line, 4);
  const auto memory = mebibytes(words[1]);
  if (!memory || words[2].empty()) return std::nullopt;
  if (const auto errors = parsed<int64_t>(words[3]); errors && *errors > 0)
    ecc_errors += std::min(*errors, kMaxErrors);
  Seen seen;
  seen.gpu = {words[0], *memory, words[2]};
  return seen;
}

/// All that the node has. The lines of each kind are in the driver's order.
std::vector<Seen> seen_by_driver(const Facts& facts, int64_t& ecc_errors) {
  const std::vector<std::string> lines = all_of(facts, "gpu"), more = all_of(facts, "gpu_more"),
                                 nodes = all_of(facts, "gpu_numa");
  std::vector<Seen> all;
  for (size_t i = 0; i < lines.size() && all.size() < kMaxGpus; ++i) {
    auto seen = gpu_of(lines[i], ecc_errors);
    if (!seen) continue;
    if (more.size() == lines.size()) {
      const std::vector<std::string> words = words_of(more[i], 4);
      seen->uuid = words[0];
      seen->gpu.free_bytes = mebibytes(words[2]).value_or(-1);
      seen->capability = parsed<double>(words[3]).value_or(0);
    }
    if (nodes.size() == lines.size())
      seen->gpu.numa_node = std::max<int64_t>(-1, parsed<int64_t>(nodes[i]).value_or(-1));
    all.push_back(std::move(*seen));
  }
  for (const std::string& line : all_of(facts, "gpu_user")) {
    const std::vector<std::string> words = words_of(line, 5);
    const auto of = std::ranges::find(all, words[1], &Seen::uuid);
    if (words[1].empty() || of == all.end() || of->gpu.users.size() == kMaxUsers) continue;
    of->gpu.users.push_back({words[0], parsed<int64_t>(words[2]).value_or(0),
                             mebibytes(words[3]).value_or(0), words[4]});
  }
  return all;
}

/// The GPUs that CUDA_VISIBLE_DEVICES names, by index or by the beginning of a UUID; as CUDA does,
/// none behind the first name that fits none. Names of parts of GPUs (MIG) are not followed.
std::vector<Seen> visible(std::vector<Seen> all, const Facts& facts) {
  if (!facts.contains("cuda_visible")) return all;
  std::vector<Seen> named;
  std::istringstream names(text_of(facts, "cuda_visible"));
  for (std::string name; std::getline(names, name, ',');) {
    name = trimmed(name);
    if (name.starts_with("MIG-")) return all;
    const auto index = parsed<size_t>(name);
    const auto of =
        index ? (*index < all.size() ? all.begin() + static_cast<ptrdiff_t>(*index) : all.end())
              : std::ranges::find_if(all, [&](const Seen& each) {
                  return !name.empty() && each.uuid.starts_with(name);
                });
    if (of == all.end()) break;
    named.push_back(*of);
  }
  return named;
}

std::string plural(size_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Check driver(const std::string& version, std::string& fault) {
  const int major = parsed<int>(version.substr(0, version.find('.'))).value_or(0);
  const std::string needed =
      fmt::format("CUDA 13 needs {} or later: have a newer driver installed", kOldestDriver);
  if (major > 0 && major < kOldestDriver)
    fault = fmt::format("their driver is {}, and {}", version, needed);
  return check("driver", fault.empty() ? Status::pass : Status::fail, version,
               needed + ", or train with hardware.device = \"cpu\"");
}

/// Whether the kernels run on these.
std::optional<Check> capability(const std::vector<Seen>& gpus, std::string& fault) {
  for (const Seen& seen : gpus) {
    if (seen.capability == 0) continue;
    const std::string value =
        fmt::format("{}, compute capability {:.1f}", seen.gpu.name, seen.capability);
    if (seen.capability < kOldestCapability) {
      const std::string needed =
          fmt::format("kernels are for {:.1f} (Ampere) and later", kOldestCapability);
      fault = fmt::format("{}: {}", value, needed);
      return check("GPU kind", Status::fail, value, needed);
    }
    if (seen.capability > kNewestCapability)
      return check("GPU kind", Status::warn, value,
                   "newer than what kernels are compiled for: the driver compiles them when the "
                   "run starts, which takes longer, and nothing has been measured there");
  }
  return std::nullopt;
}

/// "ann's python3 (process 4711) holds 77.1 GiB"
std::string user_text(const GpuUser& user) {
  return fmt::format("{}{} (process {}){}", user.user.empty() ? "" : user.user + "'s ",
                     user.program.empty() ? "program" : user.program, user.pid,
                     user.bytes > 0 ? " holds " + size_text(user.bytes) : " uses it");
}

std::optional<Check> in_use(const std::vector<Seen>& gpus) {
  std::string value;
  bool known = false;
  for (size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i].gpu;
    known |= gpu.free_bytes >= 0;
    const bool full = gpu.free_bytes >= 0 && static_cast<double>(gpu.free_bytes) <
                                                 kFree * static_cast<double>(gpu.memory_bytes);
    if (gpu.users.empty() && !full) continue;
    value += fmt::format("{}GPU {}", value.empty() ? "" : "; ", i);
    if (gpu.free_bytes >= 0)
      value +=
          fmt::format(" has {} of {} free", size_text(gpu.free_bytes), size_text(gpu.memory_bytes));
    for (const GpuUser& user : gpu.users) value += ", " + user_text(user);
  }
  if (!known) return std::nullopt;
  if (value.empty()) return check("GPU memory", Status::pass, "all free", "");
  return check("GPU memory", Status::warn, value,
               "ranks there share it: wait, ask, or choose others with CUDA_VISIBLE_DEVICES");
}

bool is_way(const std::string& word) {
  constexpr std::array kOverPcie{"PIX", "PXB", "PHB", "NODE", "SYS"};
  return word.starts_with("NV") || std::ranges::find(kOverPcie, word) != kOverPcie.end();
}

/// Reads `nvidia-smi topo -m`: how each pair of GPUs is joined, "NV18", "PHB" …
std::vector<std::string> ways(const Facts& facts) {
  std::vector<std::string> found;
  for (const std::string& line : all_of(facts, "topology")) {
    std::istringstream words(line);
    std::string name, way;
    words >> name;
    if (!name.starts_with("GPU")) continue;
    // GPUs stand first in a row, then network cards; each pair counts once, behind the X.
    for (bool behind = false; words >> way;) {
      if (!is_way(way) && way != "X") break;
      if (behind) found.push_back(way);
      behind |= way == "X";
      if (found.size() > kMaxGpus * kMaxGpus) return found;
    }
  }
  return found;
}

std::optional<Check> nvlink(const Facts& facts, size_t gpus) {
  const std::vector<std::string> all = ways(facts);
  const size_t pairs = gpus * (gpus - 1) / 2;
  if (gpus < 2 || all.size() < pairs) return std::nullopt;
  const auto joined = static_cast<size_t>(
      std::ranges::count_if(all, [](const std::string& way) { return way.starts_with("NV"); }));
  if (joined >= pairs) return check("NVLink", Status::pass, "between all GPUs", "");
  return check("NVLink", Status::warn,
               joined == 0 ? "none" : fmt::format("between {} of {} pairs of GPUs", joined, pairs),
               "the others exchange over PCIe, many times slower: shards and tensor parallelism "
               "cost more there");
}

/// Where GPUs and network cards are.
std::optional<Check> places(const std::vector<Seen>& gpus, const Facts& facts) {
  const size_t nodes = all_of(facts, "numa_node").size();
  if (nodes == 0) return std::nullopt;
  std::string value = plural(nodes, "node");
  std::string list;
  for (const Seen& seen : gpus)
    list += fmt::format("{}{}", list.empty() ? "" : ", ",
                        seen.gpu.numa_node < 0 ? "?" : std::to_string(seen.gpu.numa_node));
  if (nodes > 1) value += fmt::format(", GPUs on {}", list);
  return check("NUMA", Status::pass, value, "");
}

std::optional<Check> cards(const Facts& facts) {
  std::string value;
  for (const std::string& line : all_of(facts, "nic")) {
    const std::vector<std::string> words = words_of(line, 3);
    value += fmt::format("{}{}", value.empty() ? "" : ", ", words[0]);
    const bool node = !words[1].empty() && words[1] != "-1";
    const bool rate = !words[2].empty() && !words[2].starts_with("0 ");
    if (node || rate)
      value += fmt::format(" ({}{}{})", rate ? words[2] : "", node && rate ? ", " : "",
                           node ? "node " + words[1] : "");
  }
  if (value.empty()) return std::nullopt;
  return check("network cards", Status::pass, value, "");
}

/// The CUDA versions of the node, and which of them runs use.
std::optional<Check> cuda(const Facts& facts) {
  std::string value;
  const auto add = [&](const std::string& what, const std::string& line) {
    const size_t space = line.find(' ');
    value += fmt::format("{}{} {} in {}", value.empty() ? "" : ", ", what, line.substr(0, space),
                         space == std::string::npos ? "?" : line.substr(space + 1));
  };
  for (const std::string& line : all_of(facts, "cuda_toolkit")) add("CUDA", line);
  for (const std::string& line : all_of(facts, "pytorch")) add("PyTorch", line);
  if (value.empty()) return std::nullopt;
  return check(
      "CUDA", Status::pass,
      value + "; runs use the engine's own CUDA 13, and of these the files that are the same", "");
}

}  // namespace

GpuFindings judge_gpus(const Facts& facts) {
  int64_t ecc_errors = 0;
  const std::vector<Seen> all = seen_by_driver(facts, ecc_errors);
  const std::vector<Seen> seen = visible(all, facts);
  GpuFindings found;
  if (all.empty()) {
    const std::string smi = text_of(facts, "nvidia_smi");
    found.checks = {smi.empty()
                        ? check("GPUs", Status::pass, "none: ranks run on the CPU", "")
                        : check("GPUs", Status::warn, "a driver, but no GPU answers",
                                smi == "yes"
                                    ? "run nvidia-smi there: it says why"
                                    : "nvidia-smi is missing there: install the driver's tools")};
    return found;
  }
  if (seen.empty()) {
    found.checks = {check("GPUs", Status::warn,
                          fmt::format("CUDA_VISIBLE_DEVICES = \"{}\" hides all {}",
                                      text_of(facts, "cuda_visible"), all.size()),
                          "unset it, or name GPUs that are there")};
    return found;
  }
  for (const Seen& each : seen) found.gpus.push_back(each.gpu);
  const Gpu& first = found.gpus.front();
  const std::string hidden =
      seen.size() < all.size()
          ? fmt::format(" (CUDA_VISIBLE_DEVICES hides {})", all.size() - seen.size())
          : "";
  found.checks = {check("GPUs", Status::pass,
                        fmt::format("{} × {}, {}, driver {}{}", found.gpus.size(), first.name,
                                    size_text(first.memory_bytes), first.driver, hidden),
                        ""),
                  check("ECC", ecc_errors == 0 ? Status::pass : Status::fail,
                        fmt::format("{} uncorrected errors since the last reset", ecc_errors),
                        "results may be wrong: have the GPU looked at"),
                  driver(first.driver, found.fault)};
  for (auto& next : {capability(seen, found.fault), in_use(seen), nvlink(facts, all.size()),
                     places(seen, facts), cards(facts), cuda(facts)})
    if (next) found.checks.push_back(*next);
  found.checks.push_back(limit(facts, "memlock", "locked memory", {0, 65536},
                               "pinned buffers need it: ulimit -l unlimited", " KiB"));
  for (Check& each : found.checks) each.of_gpus = true;
  return found;
}

}  // namespace heddle::probe
