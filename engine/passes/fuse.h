// Pass: two operators become the one that does both.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Puts an operator that fuses two (graph::Traits::fuses) wherever these follow each other: where
/// the first one is if all that the second reads is there already, else where the second is.
/// Then nobody reads between them what the first makes, nor writes to anything: it might be what
/// the first reads. What the second writes to itself nobody reads between them. On a CPU results
/// are the same bits. Unless `unrolled`, what is added to sums over micro-batches is left alone:
/// another pass knows these by it.
void fuse(graph::Graph& graph, bool unrolled);

}  // namespace heddle::passes
