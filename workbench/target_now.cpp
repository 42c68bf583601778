#include "workbench/target_now.h"

#include "remote/deploy.h"
#include "remote/probe.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

Result<HostNow> host_now(remote::Node& node, const std::string& root, const std::string& engine,
                         bool has_plugin) {
  HostNow host{.name = node.name(), .is_this_machine = node.is_this_machine()};
  Result<probe::Report> report = remote::probe_node(node, root);
  if (!report) return fail(report);
  host.report = std::move(*report);
  if (host.is_this_machine) return host;
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  const auto blobs = node.list(*folder + "/blobs");
  if (!blobs) return fail(blobs);
  for (const remote::Entry& blob : *blobs) host.blobs.insert(blob.name);
  const Result<uint64_t> bytes = remote::bytes_to_deploy(node, root, engine);
  if (!bytes) return fail(bytes);
  host.engine_bytes = *bytes;
  if (!has_plugin || host.report.gpus.empty()) return host;
  const Result<uint64_t> for_gpus =
      remote::bytes_to_deploy(node, root, engine, remote::Devices::gpus);
  if (!for_gpus) return fail(for_gpus);
  host.gpu_engine_bytes = *for_gpus;
  return host;
}

}  // namespace

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
  if (nodes) return look_at(target, *nodes);
  TargetNow now{.target = target};
  now.error = nodes.error().message;
  now.refused = std::move(nodes.error());
  return now;
}

TargetNow look_at(const remote::Target& target, const Nodes& nodes) {
  TargetNow now{.target = target};
  const std::string program = engine_path();
  if (const Result<> fits = remote::check_plugin(program); !fits)
    now.plugin_fault = fits.error().message;
  for (const auto& node : nodes) {
    Result<HostNow> host = host_now(*node, target.root, program, now.plugin_fault.empty());
    if (!host) {
      now.hosts.clear();
      now.error = host.error().message;
      break;
    }
    now.hosts.push_back(std::move(*host));
  }
  return now;
}

}  // namespace heddle::workbench
