// Pass: two operators become the one that does both.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Puts an operator that fuses two (graph::Traits::fuses) wherever these follow each other: where
/// the first stands if all that the second reads is there already, else where the second stands.
/// Then nobody reads between them what the first makes, nor writes to anything: it might be what
/// the first reads. Results are the same bits.
void fuse(graph::Graph& graph);

}  // namespace heddle::passes
