// Whether a program's streams touch the same memory while nothing orders them.
#pragma once

#include "base/result.h"
#include "engine/runtime/program.h"

namespace heddle::runtime {

/// How steps are run: by their instructions, where a collective may be under way from one step to
/// the next; or recorded and replayed, each waiting for all of its collectives at its end.
enum class Stepping : uint8_t { instructions, recorded };

/// Follows two steps in a row by vector clocks (Mattern 1989) over the addresses that tensors
/// really have: operators on one stream, the collectives of each group on a stream of their own,
/// which begins after what the operators have done so far; between steps the host feeds inputs,
/// reads outputs and states. The error is the first access that another stream's access to the same
/// bytes is not ordered with, at least one of them a write; or a collective that is waited for
/// without having been started, or started twice. Runs nothing. Near-linear in the instructions.
Result<> check_races(const Program& program, Stepping stepping);

}  // namespace heddle::runtime
