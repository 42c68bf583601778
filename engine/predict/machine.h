// The hardware to plan for: this machine as it was calibrated, or an entry of the catalogue.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/hardware/entry.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// The catalogue's figures for a program that others train with, and for its hardware.
struct ProgramPlace {
  hardware::Program program;
  hardware::Entry entry;
};

struct Machine {
  std::string name;   // "this-machine", "h100-sxm"
  std::string words;  // for people: "2 cores, 23.4 GiB"
  bool gpu = false;
  cost::Rates rates;
  int64_t limit_bytes = 0;   // of a rank; 0: not known
  hardware::Node node;       // of a cluster, as it is sold
  int64_t node_devices = 0;  // of it that the ranks use, each for one; 0: no cluster
  double peak_flops = 0;     // of a rank's device, in bf16 or `eight_bits`; 0: not known
  bool eight_bits = false;   // products are
  double uncertain = 0;      // see plan::Document
  std::string uncertain_words;
  std::string never_measured, busy_now;  // likewise
  std::optional<ProgramPlace> program;   // who runs the step, where it is none of cost::Executor
  std::vector<std::string> sources;
  std::vector<std::string> remarks;
};

/// The machine that a run is on, by the rates that its ranks have agreed on.
Machine machine_of_run(const recipe::Recipe& recipe, const cost::Rates& rates);

/// Whether a recipe's or an option's name of hardware, empty by default, is this machine's.
bool is_this_machine(const std::string& name);

/// Numbers of the catalogue that are another one's here: "network.reach", "program.passes".
using OtherNumbers = std::map<std::string, double>;

/// The machine called `name` for a resolved recipe, as an `executor` uses it: one of
/// cost::Executor, or a program of the catalogue. Errors: no such name, a damaged catalogue, a
/// number that is none.
Result<Machine> machine_of(const recipe::Recipe& recipe, const std::string& name,
                           const std::string& executor, const OtherNumbers& numbers = {});

}  // namespace heddle::predict
