// The arguments of the hidden subcommand
//   heddle-engine rank --run-dir DIR --rank R --local-rank L [--attempt N] [--listen-fd FD]
//   [--word-fd FD]
//     --port P --spawned-at T
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/runs/launch.h"

namespace heddle::runs {

/// The words after the program's name, "rank" included.
std::vector<std::string> rank_arguments(const RankContext& context);

/// The other way: `words` are those after "rank". Reads launch.json of the run directory.
Result<RankContext> parse_rank_arguments(const std::vector<std::string>& words);

}  // namespace heddle::runs
