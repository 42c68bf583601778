#include "engine/train/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "engine/cost/catalogue_rates.h"
#include "engine/hardware/catalogue.h"
#include "engine/probe/report.h"
#include "engine/recipe/needs.h"
#include "engine/train/rates.h"
#include "engine/train/speed_now.h"

namespace heddle::train {
namespace {

Machine this_machine(const recipe::Recipe& recipe) {
  Machine machine;
  machine.name = "this-machine";
  machine.rates = rates_here(recipe);
  machine.beyond_bytes = recipe::kOwnBytes + recipe::kSharedBytes;
  machine.words = fmt::format("this machine, {} ranks", recipe.hardware.ranks);
  if (const auto host = probe::memory_of_this_machine()) {
    machine.limit_bytes = host->memory_bytes / std::max<int64_t>(recipe.hardware.ranks, 1);
    machine.words = fmt::format("this machine: {} cores, {}", host->cores,
                                bytes_text(static_cast<double>(host->memory_bytes)));
  }
  machine.sources = {"heddle-engine calibrate, on this machine"};
  machine.remarks = machine.rates.remarks;
  if (std::string now = speed_now(); !now.empty()) machine.remarks.push_back(std::move(now));
  return machine;
}

Machine of_catalogue(const hardware::Entry& entry, const recipe::Recipe& recipe,
                     cost::Executor executor) {
  constexpr double kGiB = 1 << 30;
  Machine machine;
  machine.name = entry.name;
  machine.words = hardware::words(entry);
  machine.gpu = true;
  machine.rates = cost::catalogue_rates(entry, cost::placements(recipe, entry.node.devices),
                                        {.executor = executor});
  machine.limit_bytes = static_cast<int64_t>(entry.device.memory_gib.value * kGiB);
  machine.beyond_bytes =
      static_cast<int64_t>((entry.device.context_gib.value +
                            (recipe.hardware.ranks > 1 ? entry.node.buffers_gib.value : 0.0)) *
                           kGiB);
  machine.peak_flops = entry.device.bf16_peak_tflops.value * 1e12;
  machine.sources = hardware::sources(entry);
  machine.remarks = machine.rates.remarks;
  if (const int64_t last = recipe.hardware.ranks % entry.node.devices;
      last != 0 && recipe.hardware.ranks > entry.node.devices)
    machine.remarks.push_back(
        fmt::format("{} ranks fill nodes of {} but for the last, which has {}",
                    recipe.hardware.ranks, entry.node.devices, last));
  return machine;
}

}  // namespace

Result<Machine> machine_of(const recipe::Recipe& recipe, const std::string& name,
                           const std::string& executor) {
  const auto runs = cost::executor_of(executor);
  if (!runs) return fail("--executor: {} is none; valid: heddle, compiled, eager", executor);
  if (name.empty() || name == hardware::kThisMachine) {
    if (*runs != cost::Executor::heddle)
      return fail(
          "--executor: {} describes GPUs, and no hardware is named; valid: heddle, or a "
          "--hardware of the catalogue",
          executor);
    return this_machine(recipe);
  }
  const hardware::Catalogue catalogue = hardware::load_catalogue();
  const auto entry = catalogue.find(name);
  if (!entry) return fail("--hardware: {}", entry.error().message);
  Machine machine = of_catalogue(*entry, recipe, *runs);
  for (const recipe::Fault& fault : catalogue.faults) machine.remarks.push_back(fault.str());
  return machine;
}

}  // namespace heddle::train
