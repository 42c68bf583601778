// How fast this machine is at this moment: to tell whether a calibration still holds.
#pragma once

namespace heddle::cost {

/// The speed of all cores together.
struct MachineSpeed {
  double flops_per_second = 0;  // multiply-adds on what the caches hold
  double bytes_per_second = 0;  // copied, read and written, of what they do not
  double others = 0;            // the share of all cores that other processes used meanwhile

  bool operator==(const MachineSpeed&) const = default;
};

/// Measures it for about half a second, on every core that this process may use. What else runs
/// meanwhile takes its part, as it does of training.
MachineSpeed measure_machine_speed();

}  // namespace heddle::cost
