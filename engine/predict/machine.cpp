#include "engine/predict/machine.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/host_name.h"
#include "base/number_text.h"
#include "engine/cost/catalogue_rates.h"
#include "engine/cost/checks.h"
#include "engine/cost/gpu_calibration.h"
#include "engine/hardware/catalogue.h"
#include "engine/hardware/nodes_in_use.h"
#include "engine/predict/gpu_rates.h"
#include "engine/predict/rates_here.h"
#include "engine/predict/refined.h"
#include "engine/predict/speed_now.h"
#include "engine/probe/report.h"

namespace heddle::predict {
namespace {

/// By what they are refined, and how far predictions on this host have been off.
void add_trust(Machine& machine) {
  cost::Trust trust = cost::trust_here(machine.gpu ? "cuda" : "cpu");
  machine.uncertain = trust.share;
  machine.uncertain_words = words_of(machine.rates.refinement);
  if (!machine.uncertain_words.empty() && !trust.words.empty()) machine.uncertain_words += "; ";
  machine.uncertain_words += trust.words;
}

Machine this_machine(const recipe::Recipe& recipe) {
  Machine machine;
  machine.name = "this-machine";
  machine.rates = rates_here(recipe);
  machine.words = fmt::format("this machine, {} ranks", recipe.hardware.ranks);
  if (const auto host = probe::memory_of_this_machine()) {
    machine.limit_bytes = host->memory_bytes / std::max<int64_t>(recipe.hardware.ranks, 1);
    machine.words = fmt::format("this machine: {} cores, {}", host->cores,
                                bytes_text(static_cast<double>(host->memory_bytes)));
  }
  add_trust(machine);
  machine.sources = {"heddle-engine calibrate, on this machine"};
  machine.remarks = machine.rates.remarks;
  SpeedNow now = speed_now();
  machine.busy_now = std::move(now.busy);
  if (!now.remark.empty()) machine.remarks.push_back(std::move(now.remark));
  return machine;
}

/// `entry`: its node has the devices that the ranks use.
Machine of_catalogue(const hardware::Entry& entry, const recipe::Recipe& recipe,
                     cost::Executor executor) {
  constexpr double kGiB = 1 << 30;
  Machine machine;
  machine.name = entry.name;
  machine.gpu = true;
  machine.rates =
      cost::catalogue_rates(entry, cost::placements(recipe::Layout(recipe), entry.node.devices),
                            {.executor = executor, .float8 = float8_of(recipe.precision.float8)});
  machine.node_devices = entry.node.devices;
  machine.eight_bits = machine.rates.device->float8 != cost::Float8::none;
  machine.limit_bytes = static_cast<int64_t>(entry.device.memory_gib.value * kGiB);
  if (executor == cost::Executor::heddle) machine.rates.device_bytes = machine.limit_bytes;
  machine.rates.process_bytes =
      static_cast<int64_t>((entry.device.context_gib.value +
                            (recipe.hardware.ranks > 1 ? entry.node.buffers_gib.value : 0.0)) *
                           kGiB);
  machine.peak_flops =
      1e12 *
      (machine.eight_bits ? entry.device.fp8_peak_tflops : entry.device.bf16_peak_tflops).value;
  machine.sources = hardware::sources(entry);
  machine.remarks = machine.rates.remarks;
  return machine;
}

/// This host's GPUs as an entry of the catalogue: what has run here counts.
void add_runs_here(Machine& machine, int64_t ranks) {
  const int64_t local_ranks = std::min(ranks, machine.node_devices);
  machine.rates.refinement = refinement_at(place_here("cuda", local_ranks, machine.rates.threads));
  add_trust(machine);
}

/// The device's undisturbed rates, and the program.
void add_program(Machine& machine, const hardware::Program& program, const hardware::Entry& entry) {
  machine.program = {program, entry};
  machine.rates.device->launch_seconds = machine.rates.device->least_seconds = 0;
  for (std::string& source : hardware::sources(program))
    machine.sources.push_back(std::move(source));
}

}  // namespace

Machine machine_of_run(const recipe::Recipe& recipe, const cost::Rates& rates) {
  Machine machine;
  machine.name = recipe.hardware.name;
  machine.words = host_name();
  machine.gpu = recipe.hardware.device == "cuda";
  machine.rates = rates;
  machine.remarks = rates.remarks;
  add_trust(machine);
  return machine;
}

bool is_this_machine(const std::string& name) {
  return name.empty() || name == hardware::kThisMachine;
}

Result<Machine> machine_of(const recipe::Recipe& recipe, const std::string& name,
                           const std::string& executor, const OtherNumbers& numbers) {
  const auto runs = cost::executor_of(executor);
  if (is_this_machine(name)) {
    if (runs != cost::Executor::heddle)
      return fail(
          "--executor: {} describes GPUs, and no hardware is named; valid: heddle, or a "
          "--hardware of the catalogue",
          executor);
    return this_machine(recipe);
  }
  const hardware::Catalogue catalogue = hardware::load_catalogue();
  auto entry = catalogue.find(name);
  if (!entry) return fail("--hardware: {}", entry.error().message);
  auto program = runs ? hardware::Program{} : catalogue.find_program(executor);
  if (!program)
    return fail("--executor: {}, or {}", program.error().message,
                fmt::join(cost::kExecutorNames, ", "));
  for (const auto& [key, value] : numbers) {
    constexpr std::string_view kProgram = "program.";
    const bool known = key.starts_with(kProgram)
                           ? hardware::set_number(*program, key.substr(kProgram.size()), value)
                           : hardware::set_number(*entry, key, value);
    if (!known)
      return fail("numbers: {} = {:g}: no number of the catalogue, or beyond its range", key,
                  value);
  }
  const hardware::Node node = entry->node;
  const std::string words = hardware::words(*entry);
  entry->node = hardware::in_use(node, recipe.hardware.ranks);
  Machine machine = of_catalogue(*entry, recipe, runs.value_or(cost::Executor::compiled));
  machine.words = words;
  machine.node = node;
  if (std::string unused = hardware::unused_words(node, recipe.hardware.ranks); !unused.empty())
    machine.remarks.push_back(std::move(unused));
  if (!runs) add_program(machine, *program, *entry);
  if (runs == cost::Executor::heddle && entry->name == cost::measured_name(host_name()))
    add_runs_here(machine, recipe.hardware.ranks);
  else if (runs == cost::Executor::heddle)
    machine.never_measured = fmt::format("Heddle has never run on {}", entry->device.title);
  for (const recipe::Fault& fault : catalogue.faults) machine.remarks.push_back(fault.str());
  return machine;
}

}  // namespace heddle::predict
