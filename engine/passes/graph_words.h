// The words of the graph, as passes speak of it. For their sources alone.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

using graph::Arg;
using graph::Graph;
using graph::kNoValue;
using graph::Name;
using graph::Node;
using graph::Phase;
using graph::Use;
using graph::Uses;
using graph::ValueId;

}  // namespace heddle::passes
