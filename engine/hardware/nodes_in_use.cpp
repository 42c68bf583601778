#include "engine/hardware/nodes_in_use.h"

#include <fmt/format.h>

namespace heddle::hardware {

std::optional<int64_t> devices_in_use(const Node& node, int64_t ranks) {
  if (ranks <= node.devices || ranks % node.devices == 0) return node.devices;
  if (node.part == 0 || ranks % node.part != 0) return std::nullopt;
  const int64_t parts = ranks / node.part;
  for (int64_t nodes = (ranks + node.devices - 1) / node.devices; nodes <= parts; ++nodes)
    if (parts % nodes == 0) return ranks / nodes;
  return std::nullopt;
}

std::vector<int64_t> nearest_usable(const Node& node, int64_t ranks) {
  const int64_t step = node.part > 0 ? node.part : node.devices;
  const int64_t below = ranks / step * step;
  return {below, below + step};
}

Node in_use(const Node& node, int64_t ranks) {
  Node used = node;
  used.devices = devices_in_use(node, ranks).value_or(node.devices);
  used.nics = node.nics * used.devices / node.devices;
  return used;
}

std::string unused_words(const Node& node, int64_t ranks) {
  const int64_t used = devices_in_use(node, ranks).value_or(node.devices);
  if (used == node.devices) return {};
  return fmt::format("{} ranks use {} of the {} devices of each of {} nodes", ranks, used,
                     node.devices, ranks / used);
}

}  // namespace heddle::hardware
