// A layer's work for a GPU: kernels to launch, bytes to move.
#pragma once

#include "base/result.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

/// The mean layer's work: forward, backward and update of a whole step, without collectives.
struct LayerWork {
  double kernels = 0;
  double bytes = 0;        // that they read and write
  double least_bytes = 0;  // that they would if fused as far as can be
};

/// Fused as far as can be: operators other than products and attention that pass each other results
/// in the same phase are one kernel, which reads what comes from outside once and writes what goes
/// outside once. An error where no layer is found ("layers.N" in front of modules).
Result<LayerWork> layer_work(const graph::Graph& planned);

}  // namespace heddle::cost
