// Whether this machine is as fast as when it was calibrated.
#pragma once

#include <string>

namespace heddle::train {

/// In words what has changed since the newest calibration of this machine, how old it is, and by
/// how much steps may be off; empty where nothing much has, or nothing is calibrated. Takes half a
/// second the first time; later answers are of a measurement that is repeated in the background
/// when it is some minutes old. Safe to call from several threads.
std::string speed_now();

}  // namespace heddle::train
