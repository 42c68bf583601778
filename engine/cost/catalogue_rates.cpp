#include "engine/cost/catalogue_rates.h"

#include <fmt/format.h>

#include <set>

namespace heddle::cost {
namespace {

constexpr int64_t kSmallestCatalogue = 1 << 10, kLargestCatalogue = int64_t{16} << 30;

Placement placed(const std::vector<int>& ranks, int64_t devices_per_node) {
  std::set<int64_t> nodes;
  for (const int rank : ranks) nodes.insert(rank / devices_per_node);
  return {static_cast<int64_t>(ranks.size()), static_cast<int64_t>(nodes.size())};
}

CollectiveTimes times_of(Collective collective, const Placement& placement,
                         const hardware::Entry& entry, bool copied, const DeviceRates& rates) {
  const double slower = 1.0 + entry.device.transfer_slowdown.value;
  const double taken =
      entry.device.transfer_multiprocessors.value / entry.device.multiprocessors.value;
  CollectiveTimes times;
  for (int64_t bytes = kSmallestCatalogue; bytes <= kLargestCatalogue; bytes *= 2) {
    const auto size = static_cast<double>(bytes);
    const double alone = collective_seconds(collective, size, placement, entry.node, entry.network);
    const double copies = copied ? bucket_copy_seconds(rates, size) : 0.0;
    times.alone.push_back({bytes, alone + copies});
    times.beside_compute.push_back({bytes, alone * slower + copies});
    // It takes multiprocessors away; the copies take all of them.
    times.lost.push_back({bytes, alone * slower * taken + copies});
  }
  return times;
}

Link link_of(const Placement& placement, const hardware::Entry& entry, const DeviceRates& rates) {
  const auto times = [&](Collective collective) {
    return times_of(collective, placement, entry, false, rates);
  };
  Link link{.transport = "nccl",
            .ranks = placement.ranks,
            .wire = placement.nodes > 1 ? Wire::network : Wire::node};
  link.all_gather = link.reduce_scatter =
      times_of(Collective::gather, placement, entry, rates.executor != Executor::heddle, rates);
  link.activations = times(Collective::gather);
  link.all_reduce = times(Collective::all_reduce);
  link.all_to_all = times(Collective::all_to_all);
  link.to_neighbour = times(Collective::to_neighbour);
  return link;
}

}  // namespace

Placements placements(const recipe::Layout& layout, int64_t devices_per_node) {
  // Where groups do not fill nodes evenly, some lie over a border that others do not.
  constexpr int64_t kNodesToAsk = 16;
  const int64_t all_ranks = layout.mesh().size();
  Placements all;
  for (const recipe::Group& group : layout.groups()) {
    Placement& widest = all[group.name];
    for (int64_t node = 0; node < kNodesToAsk && node * devices_per_node < all_ranks; ++node)
      for (const int64_t rank : {node * devices_per_node, (node + 1) * devices_per_node - 1}) {
        if (rank >= all_ranks) continue;
        const Placement other = placed(layout.members(rank, group), devices_per_node);
        if (other.nodes > widest.nodes || widest.ranks == 1) widest = other;
      }
  }
  return all;
}

Rates catalogue_rates(const hardware::Entry& entry, const Placements& groups, const Terms& terms) {
  Rates rates;
  rates.device = device_rates(entry.device, terms.executor, terms.float8);
  rates.flops_per_second = rates.device->bf16_flops;
  rates.bytes_per_second = rates.device->bytes_per_second;
  rates.multiprocessors = rates.device->multiprocessors;
  if (terms.float8 != Float8::none && rates.device->float8 == Float8::none)
    rates.remarks.push_back(
        fmt::format("{} has no units for 8 bits: products are bf16", entry.device.title));
  for (const auto& [name, placement] : groups) {
    rates.links[name] = link_of(placement, entry, *rates.device);
    rates.remote_ranks[name] = placement.ranks - placement.per_node();
  }
  return rates;
}

}  // namespace heddle::cost
