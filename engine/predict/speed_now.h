// Whether this machine is as fast as when it was calibrated.
#pragma once

#include <string>

namespace heddle::predict {

/// Measures how fast this machine is, unless that has been done within a minute or nothing is
/// calibrated: on all cores for half a second, in the background. Safe to call from several
/// threads.
void measure_speed();

/// Returns when no measurement is under way.
void await_speed();

struct SpeedNow {
  std::string busy;    // who else uses the machine
  std::string remark;  // how far the calibration is off, where that is not why
};

/// In words what has changed between the newest calibration of this machine and the last
/// measurement: whether others use it, or how old the calibration is and by how much steps may be
/// off; empty where nothing much has, or nothing is calibrated or measured. Never waits.
SpeedNow speed_now();

}  // namespace heddle::predict
