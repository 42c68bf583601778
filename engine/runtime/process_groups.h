// The process groups of a rank, by the name that collectives in the graph carry.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/result.h"
#include "engine/recipe/layout.h"
#include "engine/runs/launch.h"

namespace heddle::runtime {

/// Meets the other ranks at the run's rendezvous and makes the layout's groups: through a file of
/// the run directory where all ranks are of this host, which then needs no network. Call once a
/// process, before the first collective; with one rank there is nothing to make. An error
/// where `transport` asks for encryption of what NCCL would send. `nccl`: NCCL's settings, where it
/// is what GPUs talk by. `timeout`: how long others are
/// waited for.
Result<> init_process_groups(const runs::RankContext& context, const recipe::Layout& layout,
                             c10::Device device, const recipe::Transport& transport = {},
                             const recipe::Nccl& nccl = {},
                             std::chrono::milliseconds timeout = std::chrono::minutes(10));

/// How long the collectives of all groups wait for the other ranks, from the next ones on.
void set_timeout(std::chrono::milliseconds timeout);

/// The name of the group of all ranks; empty where there is one rank.
std::string world_group();

/// Where the tensors lie that collectives take.
c10::Device transport_device();

/// How a group's collectives travel: "none", "memory", "memory + tcp", "tcp", "nccl" or "host";
/// valid once the groups are made.
std::string transport_name(const std::string& group);
/// Ranks of other hosts, whose parts of a sum are received before they are summed: the most that a
/// rank of the group has.
int64_t remote_ranks(const std::string& group);
/// A warning for the log, or empty.
std::string transport_warning();

/// Leaves the groups. Ranks that end well call this, so that none sees a broken connection.
void close_process_groups();

/// The group of a name. Throws c10::Error where there is none (then the graph names a foreign
/// group).
c10d::Backend& process_group(const std::string& name);

}  // namespace heddle::runtime
