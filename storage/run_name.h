// Which names a run may have: they are looked up, and printed in one line; and the names of runs
// that go on from others.
#pragma once

#include <string>

#include "base/result.h"
#include "storage/run.h"

namespace heddle::storage {

/// Fails on an empty name, on one that a command takes for an option, and on one with line ends,
/// tabs, or characters that nobody sees or that turn the direction of writing (one_line.h).
Result<> check_name(const std::string& name);

/// The name of a run that goes on from another: "debug→900" is debug resumed, up to step 900;
/// "debug@500" is a fork of it after step 500. A name stays that short however often it is done:
/// debug→900 resumed is "debug→2000". `parent` has a lineage where its own name ends so.
std::string continued_name(const RunSummary& parent, Lineage::Kind kind, int64_t from_step,
                           int64_t last_step);

}  // namespace heddle::storage
