#include "workbench/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/number_text.h"
#include "engine/checkpoint/weights.h"
#include "engine/data/text_loader.h"
#include "engine/hardware/catalogue.h"
#include "engine/launch/admission.h"
#include "engine/probe/gpus_here.h"
#include "workbench/backend.h"
#include "workbench/inputs.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;
using probe::Status;

constexpr double kMaxOfDisk = 0.9;  // of what is free: beyond it is worth a warning

std::string size(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string plural(int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count_text(static_cast<double>(count)), one, count == 1 ? "" : "s");
}

/// The launch to judge, and the findings so far.
class Preflight {
 public:
  Preflight(const recipe::Parsed& recipe, const TargetNow& target)
      : parsed_(recipe),
        recipe_(recipe.recipe),
        target_(target),
        hosts_(static_cast<int64_t>(target.target.parts())),
        ranks_(recipe_.hardware.ranks / hosts_),
        device_(device_on(recipe_, target)),
        backend_(backend_of(target.target)) {
    recipe_.hardware.device = device_.gpus ? "cuda" : "cpu";
  }

  std::vector<Finding> findings() {
    find_target();
    find_data();
    find_vocabulary();
    find_weights();
    find_share();
    for (const HostNow& host : target_.hosts) {
      find_faults_of(host);
      find_device(host);
      find_ranks(host);
      find_disk(host);
    }
    return std::move(findings_);
  }

 private:
  void add(const std::string& name, Status status, std::string what, std::string remedy = "",
           const std::string& key = "") {
    Finding finding{name, status, std::move(what), std::move(remedy), ""};
    if (status == Status::fail && parsed_.places.contains(key)) finding.place = place_of(key);
    findings_.push_back(std::move(finding));
  }

  std::string place_of(const std::string& key) const {
    const recipe::Place& at = parsed_.places.at(key);
    return at.line > 0 ? fmt::format("{}:{}:{}: {}", at.file, at.line, at.column, key)
                       : fmt::format("{}: {}", at.file, key);
  }

  /// "memory", and where there are several hosts "memory of node-2".
  std::string name_on(const HostNow& host, const std::string& name) const {
    return hosts_ > 1 ? name + " of " + host.name : name;
  }

  void find_target() {
    if (!target_.error.empty()) return add("target", Status::fail, target_.error);
    add("target", Status::pass, backend_.reached(target_.target));
    for (const std::string& slow : target_.slow_links)
      add("network", Status::warn, slow + ", at the last look",
          fmt::format("the launch measures again; heddle targets probe {} does, too",
                      target_.target.name));
  }

  void find_data() {
    const std::vector<recipe::Fault> faults = input_faults(parsed_);
    for (const recipe::Fault& fault : faults) {
      const std::string line = fault.str();
      const size_t end = line.find(": " + fault.what);
      findings_.push_back({"data", Status::fail, fault.what, fault.valid, line.substr(0, end)});
    }
    if (!faults.empty()) return;
    add("data", Status::pass,
        size(static_cast<int64_t>(bytes_of_inputs(recipe_, {}).all)) + ", readable");
  }

  /// The next checks need the model's size.
  void find_vocabulary() {
    if (recipe_.model.vocab_size > 0 || !may_start(findings_)) return;
    const Result<int64_t> size = data::vocabulary(recipe_.model, recipe_.data);
    if (size) {
      recipe_.model.vocab_size = *size;
      return;
    }
    const std::string key = "data.tokenizer", &message = size.error().message;
    const bool named = message.starts_with(key + ": ");
    add("tokenizer", Status::fail, named ? message.substr(key.size() + 2) : message, "", key);
  }

  /// As training opens them: what it refuses, and what it would only log.
  void find_weights() {
    const std::string key = "model.checkpoint", &folder = recipe_.model.checkpoint;
    if (folder.empty() || recipe_.model.vocab_size == 0 || !may_start(findings_)) return;
    const auto weights = checkpoint::Weights::open(folder, recipe_.model);
    if (!weights) return add("weights", Status::fail, weights.error().message, "", key);
    for (const std::string& note : weights->notes()) add("weights", Status::warn, note, "", key);
  }

  void find_share() {
    const int64_t all = recipe_.hardware.ranks;
    if (all % hosts_ != 0)
      add("ranks", Status::fail,
          fmt::format("{} do not divide among the {} hosts of {}", all, hosts_,
                      target_.target.name),
          fmt::format("a multiple of {}", hosts_), "hardware.ranks");
    // Ranks are numbered node by node, and tp and cp are the mesh's inner axes.
    const int64_t inner = recipe_.parallelism.tp * recipe_.parallelism.cp;
    if (hosts_ > 1 && ranks_ > 0 && ranks_ % inner != 0)
      add("mesh", Status::warn,
          fmt::format("groups of tp x cp = {} ranks do not fit into the {} ranks of a host: every "
                      "layer waits for the network between hosts",
                      inner, ranks_),
          "more ranks on a host, or a smaller parallelism.tp or parallelism.cp");
  }

  /// Faults that the probe reports, whatever the recipe.
  void find_faults_of(const HostNow& host) {
    for (const probe::Check& check : host.report.checks) {
      // These depend on the recipe.
      const bool judged = check.name == "memory" || check.name == "cores" ||
                          check.name == "/dev/shm" || check.name == "GPUs";
      if (judged || (check.of_gpus && !device_.gpus)) continue;
      // A GPU that is in use, or of an unknown kind, and what a prelude does are worth a line; of
      // other things only what fails.
      const bool told = check.of_gpus || check.name == "prelude";
      if (check.status == Status::fail || (told && check.status == Status::warn))
        add(name_on(host, check.name), check.status, check.value, check.advice);
    }
  }

  void find_device(const HostNow& host) {
    const std::string name = name_on(host, "devices");
    const auto gpus = static_cast<int64_t>(host.report.gpus.size());
    if (device_.gpus) {
      if (gpus == 0) return;  // the ranks' own finding says so
      if (!target_.plugin_fault.empty())
        return add(name, Status::fail, target_.plugin_fault, "", "hardware.device");
      add(name, Status::pass, device_.why);
      return find_kind(host);
    }
    const bool chosen = parsed_.recipe.hardware.device == "auto";
    if (gpus == 0) return add(name, Status::pass, plural(ranks_, "rank") + " on the CPU");
    if (chosen) return add(name, Status::warn, device_.why);
    const bool idle = target_.plugin_fault.empty();
    add(name, idle ? Status::warn : Status::pass,
        plural(ranks_, "rank") + " on the CPU" +
            (idle ? fmt::format(" next to {} × {}", gpus, host.report.gpus[0].name) : ""),
        idle ? "hardware.device = \"cuda\" trains on these" : "");
  }

  void find_kind(const HostNow& host) {
    const std::string& gpu = host.report.gpus[0].name;
    if (host.report.gpus[0].memory_bytes == 0) return;  // only a scheduler's word is known
    if (hardware::load_catalogue().of_driver(gpu)) return;
    add(name_on(host, "GPU kind"), Status::warn, gpu + " is not in the catalogue of hardware",
        "it trains all the same, without an MFU; a file in the settings' hardware folder adds it");
  }

  /// Cores, memory, GPUs: as the host itself will judge before it starts them.
  void find_ranks(const HostNow& host) {
    if (recipe_.model.vocab_size == 0 || ranks_ == 0) return;
    const launch::Demand demand = launch::demand_of(recipe_, ranks_);
    for (const probe::Check& check :
         launch::judge(demand, host.report, recipe_.hardware.overcommit)) {
      add(name_on(host, check.name), check.status, check.value, check.advice);
    }
  }

  /// Checkpoints, and on a host what is still to be brought there.
  void find_disk(const HostNow& host) {
    const recipe::Checkpoint& checkpoint = recipe_.checkpoint;
    if (recipe_.model.vocab_size == 0 || ranks_ == 0) return;
    const int64_t one = launch::demand_of(recipe_, ranks_).checkpoint_bytes;
    int64_t kept = 0;
    if (checkpoint.enabled) {
      kept = checkpoint.every > 0
                 ? std::min(checkpoint.keep, recipe_.training.steps / checkpoint.every) + 1
                 : 1;
    }
    const auto inputs = static_cast<int64_t>(
        backend_.has_our_files() ? 0 : bytes_of_inputs(recipe_, host.blobs).missing);
    auto shipped = static_cast<int64_t>(
        backend_.has_our_files() ? 0 : (device_.gpus ? host.gpu_engine_bytes : host.engine_bytes));
    if (host.free_data_bytes)
      find_data_disk(host, inputs);
    else
      shipped += inputs;
    const auto [folder, room] = disk_of(host);
    const int64_t needed = kept * one + shipped;
    std::string what = kept == 0 ? "no checkpoints"
                       : kept == 1
                           ? fmt::format("a checkpoint takes {}", size(one))
                           : fmt::format("{} checkpoints of {} take {}, one being written included",
                                         kept, size(one), size(kept * one));
    if (shipped > 0) what += fmt::format(", {} to bring there", size(shipped));
    if (!room)
      return add(name_on(host, "disk"), Status::unknown,
                 fmt::format("{}; what is free at {} is not known", what, folder));
    const int64_t free = *room;
    what += fmt::format("; {} free at {}", size(free), folder);
    const std::string remedy =
        kept > 1 ? "free some space, lower checkpoint.keep, or name another checkpoint.folder"
                 : "free some space, or name another checkpoint.folder";
    const Status status = needed > free ? Status::fail
                          : static_cast<double>(needed) > kMaxOfDisk * static_cast<double>(free)
                              ? Status::warn
                              : Status::pass;
    add(name_on(host, "disk"), status, what, status == Status::pass ? "" : remedy,
        "checkpoint.folder");
  }

  /// Inputs that are still to be brought to the target's own folder for them.
  void find_data_disk(const HostNow& host, int64_t bytes) {
    const bool fits = bytes <= *host.free_data_bytes;
    add(name_on(host, "data disk"), fits ? Status::pass : Status::fail,
        fmt::format("{} to bring there; {} free at {}", size(bytes), size(*host.free_data_bytes),
                    target_.target.data_root),
        fits ? "" : "free some space, or give the target another folder (--data-root)");
  }

  /// Where checkpoints go, and what is free there, where that can be told: of a disk that is full
  /// the probe says so itself.
  std::pair<std::string, std::optional<int64_t>> disk_of(const HostNow& host) const {
    if (!backend_.has_our_files() || recipe_.checkpoint.folder.empty()) {
      const int64_t free = host.report.free_disk_bytes;
      return {target_.target.root, free > 0 ? std::optional(free) : std::nullopt};
    }
    fs::path folder = recipe_.checkpoint.folder;
    std::error_code error;
    while (folder.has_relative_path() && !fs::exists(folder, error)) folder = folder.parent_path();
    const fs::space_info space = fs::space(folder, error);
    return {recipe_.checkpoint.folder,
            error ? std::nullopt : std::optional(static_cast<int64_t>(space.available))};
  }

  const recipe::Parsed& parsed_;
  recipe::Recipe recipe_;
  const TargetNow& target_;
  const int64_t hosts_;
  const int64_t ranks_;  // of each host
  const launch::DeviceChoice device_;
  const Backend& backend_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string Finding::line() const {
  return fmt::format("{}: {}{}{}", place.empty() ? name : place, what, remedy.empty() ? "" : "; ",
                     remedy);
}

launch::DeviceChoice device_on(const recipe::Recipe& recipe, const TargetNow& target) {
  const auto count = static_cast<int64_t>(target.hosts.size());
  const std::string& device = recipe.hardware.device;
  if (device == "cpu" || count == 0) return {device == "cuda", ""};
  std::vector<probe::GpusOf> hosts;
  for (const HostNow& host : target.hosts) {
    const std::vector<probe::Gpu>& gpus = host.report.gpus;
    hosts.push_back({.host = host.name, .count = static_cast<int64_t>(gpus.size())});
    if (gpus.empty()) continue;
    hosts.back().name = gpus[0].name;
    hosts.back().fault =
        host.report.gpu_fault.empty() ? target.plugin_fault : host.report.gpu_fault;
  }
  launch::DeviceChoice choice =
      launch::choose_device(hosts, recipe.hardware.ranks / count, recipe.transport.gpus == "host");
  choice.gpus |= device == "cuda";
  return choice;
}

std::vector<Finding> preflight(const recipe::Parsed& recipe, const TargetNow& target) {
  return Preflight(recipe, target).findings();
}

bool may_start(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.status == Status::fail; });
}

std::string lines_of(const std::vector<Finding>& findings, Status status) {
  std::string lines;
  for (const Finding& finding : findings)
    if (finding.status == status) lines += (lines.empty() ? "" : "\n") + finding.line();
  return lines;
}

}  // namespace heddle::workbench
