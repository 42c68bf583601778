#include "engine/graph/cleanup.h"

#include <vector>

namespace heddle::graph {

void name_gradient_sums(Graph& graph) {
  std::vector<Name> consumer(graph.values.size());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->module.empty() && node->phase == Phase::backward) {
      for (ValueId output : node->outputs)
        if (output != kNoValue && !consumer[output].empty()) node->module = consumer[output];
    }
    for_each_use(*node, [&](const Use& use) { consumer[use.value] = node->module; });
  }
}

void remove_unread_nodes(Graph& graph) {
  std::vector<bool> read(graph.values.size(), false);
  for (const Binding& output : graph.outputs) read[output.value] = true;
  std::vector<bool> sent(graph.values.size(), false);
  for (const Node& node : graph.nodes)
    if (is_send(node)) sent[node.outputs.front()] = true;
  std::vector<bool> keep(graph.nodes.size(), false);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    if (is_send(node) || (is_wait(node) && sent[list_of(node).front().value])) keep[i] = true;
    for (ValueId output : node.outputs)
      if (output != kNoValue && read[output]) keep[i] = true;
    for_each_use(node, [&](const Use& use) {
      if (use.written != kNoValue) keep[i] = true;
    });
    if (keep[i]) for_each_use(node, [&](const Use& use) { read[use.value] = true; });
  }
  size_t kept = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (keep[i]) {
      if (kept != i) graph.nodes[kept] = std::move(graph.nodes[i]);
      ++kept;
    }
  graph.nodes.resize(kept);
}

}  // namespace heddle::graph
