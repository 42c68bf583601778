#include "engine/launch/choose_device.h"

#include <fmt/format.h>

#include "engine/probe/gpus_here.h"

namespace heddle::launch {
namespace {

std::string plural(int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

DeviceChoice choose_device(const std::vector<probe::GpusOf>& hosts, int64_t ranks_of_host,
                           bool share) {
  const std::string ranks = plural(ranks_of_host * static_cast<int64_t>(hosts.size()), "rank");
  const auto cpu = [&](const std::string& why) {
    return DeviceChoice{false, fmt::format("{} on the CPU: {}", ranks, why)};
  };
  for (const probe::GpusOf& host : hosts) {
    if (!host.fault.empty()) return cpu(fmt::format("of {}'s GPUs: {}", host.host, host.fault));
    if (host.count == 0) return cpu(host.host + " has no GPU that can be used");
    if (host.count < ranks_of_host && !share)
      return cpu(
          fmt::format("{} has {} for {}, and each takes one; hardware.ranks = {} fits, and with "
                      "transport.gpus = \"host\" ranks share them",
                      host.host, plural(host.count, "GPU"), plural(ranks_of_host, "rank"),
                      host.count * static_cast<int64_t>(hosts.size())));
  }
  int64_t count = 0;
  for (const probe::GpusOf& host : hosts) count += host.count;
  return {true, fmt::format("{} on {} × {}", ranks, count, hosts.front().name)};
}

}  // namespace heddle::launch
