// The times of one layer and of a model's end on a device, from the graph of a one-layer model:
// the parts that the steps of other programs are put together from.
#pragma once

#include "engine/cost/cost_model.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

/// Seconds of one direction, by what they are spent on, as the device does it undisturbed.
struct PartSeconds {
  double products = 0;
  double attention = 0;
  double passes = 0;      // of operators that memory limits
  double exchanges = 0;   // of activations between the ranks that share a layer
  int64_t exchanged = 0;  // how many of these there are
};

struct StepParts {
  PartSeconds layer_forward, layer_backward;
  double head_products = 0;  // of the output projection, there and back
};

/// The parts of a captured step of one layer; updates are not counted. Nodes in front of the first
/// phase of the optimizer that are of no layer count as the head's.
StepParts step_parts(const graph::Graph& one_layer, const CostModel& cost);

}  // namespace heddle::cost
