#include "engine/train/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "engine/probe/report.h"
#include "engine/recipe/needs.h"
#include "engine/train/rates.h"

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
  return machine;
}

}  // namespace

Result<Machine> machine_of(const recipe::Recipe& recipe, const std::string& name,
                           const std::string& executor) {
  if (name.empty() || name == "this-machine") {
    if (executor != "heddle")
      return fail(
          "--executor: {} describes GPUs, and no hardware is named; valid: heddle, or a "
          "--hardware of the catalogue",
          executor);
    return this_machine(recipe);
  }
  return fail("--hardware: there is no \"{}\"; valid: this-machine", name);
}

}  // namespace heddle::train
