#include "workbench/backends/hosts.h"

#include "remote/deploy.h"
#include "remote/probe.h"
#include "remote/start_script.h"
#include "workbench/backends/supervisor.h"
#include "workbench/host_links.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

const char* option_of(Order order) {
  return order == Order::stop ? "--stop" : order == Order::kill ? "--kill" : "--checkpoint";
}

}  // namespace

Result<> look_for_files(HostNow& host, remote::Node& node, const remote::Target& target,
                        bool for_gpus_too) {
  const std::string engine = engine_path();
  const std::string& root = target.root;
  const Result<std::string> folder = node.expand(target.folder_of_data());
  if (!folder) return fail(folder);
  const auto blobs = node.list(*folder + "/blobs");
  if (!blobs) return fail(blobs);
  for (const remote::Entry& blob : *blobs) host.blobs.insert(blob.name);
  if (!target.data_root.empty()) {
    const auto data = remote::probe_node(node, target.data_root, "data");
    if (!data) return fail(data);
    host.free_data_bytes = data->free_disk_bytes;
  }
  const auto for_cpus = remote::look_for_engine(node, root, engine);
  if (!for_cpus) return fail(for_cpus);
  host.engine_bytes = for_cpus->bytes;
  host.engine_id = for_cpus->id;
  if (!for_gpus_too) return {};
  const auto for_gpus = remote::look_for_engine(node, root, engine, remote::Devices::gpus);
  if (!for_gpus) return fail(for_gpus);
  host.gpu_engine_bytes = for_gpus->bytes;
  host.gpu_engine_id = for_gpus->id;
  return {};
}

Result<std::vector<probe::Report>> Hosts::probe(const remote::Target& target,
                                                const Nodes& nodes) const {
  std::vector<probe::Report> reports;
  for (const auto& node : nodes) {
    Result<probe::Report> report = remote::probe_for(*node, target);
    if (!report) return fail(report);
    reports.push_back(std::move(*report));
  }
  return reports;
}

TargetNow Hosts::check(const remote::Target& target, const Nodes& nodes) const {
  TargetNow now{.target = target};
  for (const links::Slowness& slow : kept_slowness(target)) now.slow_links.push_back(slow.what);
  if (const Result<> fits = remote::check_plugin(engine_path()); !fits)
    now.plugin_fault = fits.error().message;
  const auto reports = probe(target, nodes);
  if (!reports) {
    now.error = reports.error().message;
    return now;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    HostNow host{.name = nodes[i]->name(), .report = (*reports)[i]};
    if (has_our_files()) {
      now.hosts.push_back(std::move(host));
      continue;
    }
    const bool for_gpus = now.plugin_fault.empty() && !host.report.gpus.empty();
    const Result<> looked = look_for_files(host, *nodes[i], target, for_gpus);
    if (!looked) {
      now.hosts.clear();
      now.error = looked.error().message;
      return now;
    }
    now.hosts.push_back(std::move(host));
  }
  return now;
}

Result<> Hosts::start(const Start& start) const {
  runs::Launch launch = start.launch;
  if (start.nodes.size() > 1) {
    launch.rendezvous_host = start.place.target.hosts[0].address;
    launch.public_addresses = start.place.target.public_addresses;
  }
  const auto start_part = [&](size_t i) -> Result<> {
    remote::Node& node = *start.nodes[i];
    const Share& share = start.place.shares[i];
    if (Result<> told = start.tell("starting on " + node.name()); !told) return told;
    launch.first_rank = share.first_rank;
    launch.local_ranks = share.local_ranks;
    if (!start.begin_with.empty()) launch.begin_with = start.begin_with[i];
    const Result<std::string> text = runs::launch_text(launch);
    if (!text) return fail(text);
    const Result<runs::Status> status = start_supervisor(
        node, share, *text, start.secret, remote::has_start_script(start.place.target));
    if (!status) return fail(status);
    // The first host has opened the rendezvous; the others get its address.
    if (i == 0 && status->state) launch.rendezvous_port = status->state->port;
    return {};
  };
  for (size_t i = 0; i < start.nodes.size(); ++i) {
    const Result<> started = start_part(i);
    if (started) continue;
    for (size_t before = 0; before < i; ++before)
      (void)order(*start.nodes[before], start.place.shares[before], Order::kill);
    return started;
  }
  return {};
}

Result<runs::Status> Hosts::state(remote::Node& node, const Share& share) const {
  return ask_supervisor(node, share, "--status");
}

Result<runs::Status> Hosts::order(remote::Node& node, const Share& share, Order order) const {
  return ask_supervisor(node, share, option_of(order));
}

Result<Pieces> Hosts::logs(remote::Node& node, const std::vector<remote::Range>& ranges) const {
  return node.read(ranges);
}

bool ThisMachine::runs(const remote::Target& target) const {
  return target.hosts[0].is_this_machine();
}

std::string ThisMachine::located(const std::string& path, const remote::Host&) const {
  return path;
}

std::string ThisMachine::reached(const remote::Target&) const { return "this machine"; }

std::string SshHosts::located(const std::string& path, const remote::Host& host) const {
  return fmt::format("{} on {}", path, host.name);
}

std::string SshHosts::reached(const remote::Target& target) const {
  std::string names;
  for (const remote::Host& host : target.hosts) names += (names.empty() ? "" : ", ") + host.name;
  return names + (target.hosts.size() > 1 ? " answer" : " answers");
}

}  // namespace heddle::workbench
