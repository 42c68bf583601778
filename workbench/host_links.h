// The links between a target's hosts: measured before a run of several hosts and when the target is
// probed, kept as that target's calibration, compared with earlier measurements.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/links/judge_links.h"
#include "engine/probe/report.h"
#include "remote/target.h"
#include "workbench/target_now.h"

namespace heddle::workbench {

/// One measurement of all pairs of a target's hosts.
struct MeasuredLinks {
  double time = 0;  // Unix seconds
  std::vector<links::Pair> pairs = {};
  std::vector<std::string> faults = {};  // of pairs that do not reach each other, in words
};

/// Measures every pair with the engine that is on both hosts, as many pairs at a time as have no
/// host in common. `engines`: its path on each host. `tell`: an error cancels. Blocks, about a
/// second for each round.
Result<MeasuredLinks> measure_links(const remote::Target& target, const Nodes& nodes,
                                    const std::vector<std::string>& engines,
                                    const std::function<Result<>(const std::string&)>& tell);

/// The engine's path on each host; empty where one of them lacks it.
Result<std::vector<std::string>> engines_there(const remote::Target& target, const Nodes& nodes);

/// $XDG_CACHE_HOME/heddle/links.json: the last measurements of each target.
std::string links_file();

/// Compares with the kept measurements of the same hosts.
std::vector<links::Slowness> judge_links(const remote::Target& target,
                                         const MeasuredLinks& measured);

/// Adds it to them.
Result<> keep_links(const remote::Target& target, const MeasuredLinks& measured);

/// What was slow at the last measurement of these hosts; none where there was none.
std::vector<links::Slowness> kept_slowness(const remote::Target& target);

/// For the target's report.
probe::Check check_of(const MeasuredLinks& measured, const std::vector<links::Slowness>& slow);

}  // namespace heddle::workbench
