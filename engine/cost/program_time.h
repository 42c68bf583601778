// How long a step of another program takes, put together from the parts of a layer.
#pragma once

#include "engine/cost/program_shape.h"
#include "engine/cost/step_parts.h"
#include "engine/hardware/entry.h"

namespace heddle::cost {

/// Seconds of a step. compute + exposed + bubble + apart = step.
struct ProgramTime {
  double step = 0;
  double compute = 0;  // of the slowest pipeline rank
  double exposed = 0;  // it waits for transfers
  double bubble = 0;   // or for other pipeline ranks
  double apart = 0;    // reducing gradients, updating, whatever the program does once a step
};

/// `bytes_per_second`: what kernels of one pass reach.
///
///     layer = max(device, host) with device = products / share + attention / share + passes ·
///     times step  = micro-batches · slowest stage + the other stages' turns + what is done once
///
/// Exchanges inside a node are in the device's queue; those that leave it are waited for. Where
/// parameters are sharded, a layer takes at least what its gathers and scatters do, which take
/// multiprocessors from compute meanwhile.
ProgramTime program_time(const ProgramShape& shape, const StepParts& parts,
                         const hardware::Program& program, const hardware::Entry& entry,
                         double bytes_per_second);

}  // namespace heddle::cost
