// How NCCL is set: it reads variables of the environment when its first group is made.
#pragma once

#include <map>
#include <string>

#include "engine/recipe/recipe.h"

namespace heddle::runtime {

/// The variables of a rank whose host the others reach at `interface` ("eth0"; empty: all ranks are
/// of one host, where NCCL needs none). `deterministic`: no sums within switches (NVLink SHARP),
/// whose order nobody fixes. What the recipe leaves open is not among them, except for
/// NCCL_SOCKET_IFNAME: NCCL would take the first interface that it finds.
std::map<std::string, std::string> nccl_environment(const recipe::Nccl& nccl,
                                                    const std::string& interface,
                                                    bool deterministic = false);

/// Sets them. What somebody has set in the environment stays, unless the recipe says otherwise.
void set_nccl_environment(const recipe::Nccl& nccl, const std::string& interface,
                          bool deterministic = false);

}  // namespace heddle::runtime
