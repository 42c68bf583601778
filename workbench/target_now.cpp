#include "workbench/target_now.h"

#include "workbench/backend.h"

namespace heddle::workbench {

tl::expected<Nodes, remote::ConnectError> connect_all(const remote::Target& target) {
  Nodes nodes;
  for (const remote::Host& host : target.hosts) {
    auto node = remote::connect(target, host);
    if (!node) return tl::unexpected(std::move(node.error()));
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

TargetNow look_at(const remote::Target& target) {
  auto nodes = connect_all(target);
  if (nodes) return backend_of(target).check(target, *nodes);
  TargetNow now{.target = target};
  now.error = nodes.error().message;
  now.refused = std::move(nodes.error());
  return now;
}

}  // namespace heddle::workbench
