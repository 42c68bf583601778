// Whether a recipe can be trained on a target, judged before anything is shipped: the same for the
// Launch page and for the shell. No connections here: what is known of the target is TargetNow.
#pragma once

#include <string>
#include <vector>

#include "engine/launch/choose_device.h"
#include "engine/probe/report.h"
#include "engine/recipe/parse.h"
#include "workbench/target_now.h"

namespace heddle::workbench {

/// One thing looked at.
struct Finding {
  std::string name;  // "memory", "disk", …
  probe::Status status = probe::Status::pass;
  std::string what;         // with its numbers
  std::string remedy = {};  // empty when there is none to take
  std::string place = {};   // "FILE:LINE:COLUMN: key", where the recipe is at fault

  /// "memory: 8 ranks take …; fewer ranks, …", one line.
  std::string line() const;
  bool operator==(const Finding&) const = default;
};

/// The device that a resolved recipe's `hardware.device` means on the target.
launch::DeviceChoice device_on(const recipe::Recipe& recipe, const TargetNow& target);

/// `recipe` is resolved and without faults. Reads sizes of files and folders on this machine.
std::vector<Finding> preflight(const recipe::Parsed& recipe, const TargetNow& target);

bool may_start(const std::vector<Finding>& findings);

/// The lines of those with that status, a line each.
std::string lines_of(const std::vector<Finding>& findings, probe::Status status);

}  // namespace heddle::workbench
