// The process groups of a rank, by the name that collectives in the graph carry.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/result.h"
#include "engine/launch/launch.h"

namespace heddle::runtime {

/// The group of the data-parallel ranks that share a parameter.
inline constexpr const char* kShardGroup = "dp_shard";

/// Meets the other ranks at the run's rendezvous and makes the groups. Call once a process, before
/// the first collective; with one rank there is nothing to make.
Result<> init_process_groups(const launch::RankContext& context, c10::Device device);

/// Leaves the groups. Ranks that end well call this, so that none sees a broken connection.
void close_process_groups();

/// The group of a name. Throws c10::Error where there is none (then the graph names a foreign
/// group).
c10d::Backend& process_group(const std::string& name);

}  // namespace heddle::runtime
