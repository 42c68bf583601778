// How sure a plan for hardware of the catalogue is: by how far predictions were off what others
// have published.
#pragma once

#include <cstdint>

#include "engine/hardware/entry.h"
#include "engine/plan/document.h"

namespace heddle::predict {

/// The share of a device's memory that plans of Heddle's own steps may be off on hardware on which
/// none has run: the context, the libraries' workspaces and buffers are guesses there.
inline constexpr double kMemoryMargin = 0.03;

/// Adds the interval of a step that PyTorch or Heddle runs (cost::Executor), whose hardware and
/// executor the document names. Heddle has no published runs: torch.compile's give the interval,
/// half as wide again.
void add_published_interval(plan::Document& document, bool eight_bits);

/// Adds the interval of a program of the catalogue on so many nodes, and whether none was published
/// of this hardware.
void add_published_interval(plan::Document& document, const hardware::Program& program,
                            bool eight_bits, int64_t nodes);

}  // namespace heddle::predict
