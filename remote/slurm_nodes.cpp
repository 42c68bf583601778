#include "remote/slurm_nodes.h"

#include <algorithm>
#include <sstream>

#include "remote/slurm_text.h"

namespace heddle::remote {
namespace {

constexpr const char* kNodesFormat = "%P|%a|%D|%T|%c|%m|%l|%G";
constexpr size_t kNodesFields = 8;
constexpr int64_t kMebi = int64_t{1} << 20;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> pieces;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, by);)
    if (!piece.empty()) pieces.push_back(std::move(piece));
  return pieces;
}

/// The last word of a line: it has spaces in it.
std::string reason_in(const std::string& line) {
  const size_t at = line.find(" Reason=");
  if (at == std::string::npos) return {};
  const std::string rest = line.substr(at + 8);
  return rest.substr(0, rest.find(" ["));  // who said so, and when
}

bool has(const std::string& state, const char* word) { return state.find(word) != state.npos; }

}  // namespace

std::vector<std::string> sinfo_words() { return {"sinfo", "-h", "-o", kNodesFormat}; }

std::vector<PartitionNodes> partitions_from(const std::string& sinfo) {
  std::vector<PartitionNodes> partitions;
  std::istringstream lines(sinfo);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields = fields_of(line, kNodesFields);
    if (fields.empty()) continue;
    PartitionNodes nodes;
    nodes.partition = std::move(fields[0]);
    nodes.is_default = nodes.partition.ends_with('*');
    if (nodes.is_default) nodes.partition.pop_back();
    nodes.up = fields[1] == "up";
    nodes.nodes = number_in(fields[2]).value_or(0);
    nodes.state = std::move(fields[3]);
    nodes.cores = number_in(fields[4]).value_or(0);
    nodes.memory_bytes = number_in(fields[5]).value_or(0) * kMebi;
    nodes.time_limit = std::move(fields[6]);
    GpuCount found = gpus_in(fields[7]);
    nodes.gpus = found.gpus;
    nodes.gpu_kind = std::move(found.kind);
    partitions.push_back(std::move(nodes));
  }
  return partitions;
}

Result<PartitionNodes> nodes_for(const JobRequest& request,
                                 const std::vector<PartitionNodes>& all) {
  std::string names;
  std::vector<PartitionNodes> there;
  for (const PartitionNodes& nodes : all) {
    if (("|" + names + "|").find("|" + nodes.partition + "|") == std::string::npos)
      names += (names.empty() ? "" : "|") + nodes.partition;
    // A job may name several partitions; it runs in one of them.
    const bool asked =
        ("," + request.partition + ",").find("," + nodes.partition + ",") != std::string::npos;
    if (request.partition.empty() ? nodes.is_default : asked) there.push_back(nodes);
  }
  if (there.empty())
    return request.partition.empty()
               ? fail("there is no default partition; valid: {}", names)
               : fail("there is no partition {}; valid: {}", request.partition, names);
  if (std::ranges::none_of(there, &PartitionNodes::up))
    return fail("the partition {} is down", there.front().partition);
  std::erase_if(there, [](const PartitionNodes& nodes) { return !nodes.up; });
  const auto most = std::ranges::max_element(there, {}, &PartitionNodes::gpus)->gpus;
  std::erase_if(there, [&](const PartitionNodes& n) { return n.gpus < request.gpus_per_node; });
  if (there.empty())
    return fail("no node of the partition has {} GPUs; valid: at most {}", request.gpus_per_node,
                most);
  int64_t count = 0;
  for (const PartitionNodes& nodes : there) count += nodes.nodes;
  if (count < request.nodes)
    return fail("the job asks for {} nodes, and the partition has {} of the kind", request.nodes,
                count);
  return *std::ranges::min_element(there, {}, &PartitionNodes::cores);
}

ClusterNode::Use ClusterNode::use() const {
  for (const char* down : {"DOWN", "FAIL", "NOT_RESPONDING", "POWERED_DOWN", "UNKNOWN", "*"})
    if (has(state, down)) return Use::down;
  for (const char* draining : {"DRAIN", "MAINT", "RESERVED", "REBOOT"})
    if (has(state, draining)) return Use::draining;
  if (has(state, "ALLOCATED") || has(state, "COMPLETING")) return Use::allocated;
  return has(state, "MIXED") ? Use::mixed : Use::idle;
}

std::vector<std::string> show_nodes_words() { return {"scontrol", "-o", "-d", "show", "node"}; }

std::vector<ClusterNode> cluster_nodes_from(const std::string& scontrol) {
  std::vector<ClusterNode> nodes;
  std::istringstream lines(scontrol);
  for (std::string line; std::getline(lines, line);) {
    ClusterNode node;
    node.name = value_of(line, "NodeName");
    node.state = value_of(line, "State");
    if (node.name.empty() || node.state.empty()) continue;
    node.partitions = split(value_of(line, "Partitions"), ',');
    node.reason = reason_in(line);
    node.cores = number_in(value_of(line, "CPUTot")).value_or(0);
    node.cores_used = number_in(value_of(line, "CPUAlloc")).value_or(0);
    node.memory_bytes = number_in(value_of(line, "RealMemory")).value_or(0) * kMebi;
    GpuCount all = gpus_in(value_of(line, "Gres"));
    node.gpus = all.gpus;
    node.gpu_kind = std::move(all.kind);
    node.gpus_used = gpus_in(value_of(line, "GresUsed")).gpus;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<ClusterNode> nodes_in(const JobRequest& request, const std::string& default_partition,
                                  std::vector<ClusterNode> all) {
  const auto wanted = split(request.partition.empty() ? default_partition : request.partition, ',');
  std::erase_if(all, [&](const ClusterNode& node) {
    return std::ranges::none_of(node.partitions, [&](const std::string& partition) {
      return std::ranges::find(wanted, partition) != wanted.end();
    });
  });
  return all;
}

}  // namespace heddle::remote
