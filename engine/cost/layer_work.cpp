#include "engine/cost/layer_work.h"

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "engine/passes/join.h"
#include "engine/passes/node_cost.h"

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

/// "layers.3" of "layers.3.attention.wq"; empty where it is of no layer.
std::string layer_of(const std::string& module) {
  constexpr std::string_view kLayers = "layers.";
  if (!module.starts_with(kLayers)) return {};
  const size_t end = module.find_first_not_of("0123456789", kLayers.size());
  return module.substr(0, end);
}

bool is_kernel(const Node& node) { return !graph::is_view(node) && !graph::is_collective(node); }

/// By value: the value whose memory it is; for a join, its first part's.
std::vector<ValueId> memories_of(const Graph& graph) {
  std::vector<ValueId> memory(graph.values.size());
  std::iota(memory.begin(), memory.end(), 0);
  for (const Node& node : graph.nodes) {
    graph::for_each_use(node, [&](const graph::Use& use) {
      if (use.written != kNoValue) memory[use.written] = memory[use.value];
    });
    if (!graph::is_view(node)) continue;
    const bool of_a_list = graph::is_wait(node) || passes::is_join(node);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue)
        memory[node.outputs[i]] = memory[of_a_list ? graph::list_of(node)[i].value
                                                   : std::get<graph::Use>(node.args.front()).value];
  }
  return memory;
}

/// Sets that are joined two by two.
class Clusters {
 public:
  explicit Clusters(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t of(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<size_t> parent_;
};

/// The memories that one cluster's kernels read and write, each once.
int64_t bytes_of_fused(const Graph& graph, const std::vector<ValueId>& memory,
                       const std::vector<int32_t>& cluster_of,
                       const std::map<ValueId, std::set<int32_t>>& readers,
                       const std::vector<const Node*>& nodes, int32_t cluster) {
  std::set<ValueId> made, read, written;
  for (const Node* node : nodes) {
    graph::for_each_use(*node, [&](const graph::Use& use) {
      (use.written == kNoValue ? read : written).insert(use.value);
    });
    for (const ValueId output : node->outputs)
      if (output != kNoValue) made.insert(output);
  }
  int64_t bytes = 0;
  std::set<ValueId> counted;
  for (const ValueId value : read)
    if (!made.contains(memory[value]) && counted.insert(memory[value]).second)
      bytes += graph.values[value].bytes();
  for (const ValueId value : written) bytes += 2 * graph.values[value].bytes();
  for (const ValueId value : made) {
    const auto found = readers.find(memory[value]);
    if (found == readers.end()) continue;
    for (const int32_t reader : found->second)
      if (cluster_of[reader] != cluster) {
        bytes += graph.values[value].bytes();
        break;
      }
  }
  return bytes;
}

}  // namespace

Result<LayerWork> layer_work(const Graph& graph) {
  const std::vector<ValueId> memory = memories_of(graph);
  std::map<ValueId, std::set<int32_t>> readers;  // by memory: nodes
  std::map<ValueId, int32_t> maker;              // by memory
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (graph::is_view(node)) continue;
    graph::for_each_use(node, [&](const graph::Use& use) {
      readers[memory[use.value]].insert(static_cast<int32_t>(i));
    });
    for (const ValueId output : node.outputs)
      if (output != kNoValue) maker[output] = static_cast<int32_t>(i);
  }
  const auto host = static_cast<int32_t>(graph.nodes.size());  // reads the outputs
  for (const graph::Binding& output : graph.outputs) readers[memory[output.value]].insert(host);

  std::set<std::string> layers;
  Clusters clusters(graph.nodes.size());
  LayerWork work;
  const auto fuses = [&](int32_t i) {
    const Node& node = graph.nodes[i];
    return is_kernel(node) && !node.op->flops && !layer_of(node.module.text()).empty();
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const std::string layer = layer_of(node.module.text());
    if (layer.empty() || !is_kernel(node)) continue;
    layers.insert(layer);
    const auto moved = static_cast<double>(passes::bytes_moved(graph, node));
    work.kernels += node.op->kernels;
    work.bytes += moved;
    if (node.op->flops) {
      work.least_bytes += moved;
      continue;
    }
    graph::for_each_use(node, [&](const graph::Use& use) {
      const auto made = maker.find(memory[use.value]);
      if (made != maker.end() && fuses(made->second) &&
          graph.nodes[made->second].phase == node.phase)
        clusters.join(i, made->second);
    });
  }
  if (layers.empty()) return fail("the graph has no layers: no module is called \"layers.N\"");

  std::vector<int32_t> cluster_of(graph.nodes.size() + 1, -1);
  std::map<int32_t, std::vector<const Node*>> fused;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!fuses(static_cast<int32_t>(i))) continue;
    cluster_of[i] = static_cast<int32_t>(clusters.of(i));
    fused[cluster_of[i]].push_back(&graph.nodes[i]);
  }
  for (const auto& [cluster, nodes] : fused)
    work.least_bytes +=
        static_cast<double>(bytes_of_fused(graph, memory, cluster_of, readers, nodes, cluster));

  const auto count = static_cast<double>(layers.size());
  return LayerWork{work.kernels / count, work.bytes / count, work.least_bytes / count};
}

}  // namespace heddle::cost
