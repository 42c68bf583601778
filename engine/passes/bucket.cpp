#include "engine/passes/bucket.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "engine/passes/graph_words.h"
#include "engine/passes/order.h"

namespace heddle::passes {
namespace {

// A wait as what it waits for.
bool works_on_lists(const Node& node, const Node* collective) {
  return (collective ? *collective : node).op->merges;
}

// Properties that members share: operator, group, and of updates rate and settings.
using Kind = c10::SmallVector<graph::Name, 3>;

// Properties that nodes share to become one: bucket, micro-batch, phase, whether they wait,
// kind.
using Key = std::tuple<int, int32_t, graph::Phase, bool, Kind>;

void append(Node& merged, const Node& node) {
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (const auto* uses = std::get_if<Uses>(&node.args[i])) {
      auto& all = std::get<Uses>(merged.args[i]);
      all.append(uses->begin(), uses->end());
    } else if (const auto* constant = std::get_if<c10::IValue>(&node.args[i]);
               constant && constant->isIntList()) {
      std::vector<int64_t> all = std::get<c10::IValue>(merged.args[i]).toIntVector();
      for (int64_t each : constant->toIntVector()) all.push_back(each);
      merged.args[i] = c10::IValue(std::move(all));
    }
  }
  merged.outputs.insert(merged.outputs.end(), node.outputs.begin(), node.outputs.end());
}

Kind kind_of(const Node& node) {
  Kind kind{graph::Name(node.op.text())};
  for (const Arg& arg : node.args) {
    const auto* constant = std::get_if<c10::IValue>(&arg);
    if (constant && constant->isString()) kind.emplace_back(constant->toStringRef());
    if (constant && constant->isDouble())
      kind.emplace_back(fmt::format("{}", constant->toDouble()));
    if (const auto* use = std::get_if<Use>(&arg)) kind.emplace_back(fmt::format("%{}", use->value));
  }
  return kind;
}

}  // namespace

void bucket(Graph& graph, const BucketPlan& plan) {
  BucketIndex index(plan);
  const std::vector<int32_t> made_by = graph::producers(graph);
  std::map<Key, size_t> merged;  // → index into nodes
  std::vector<Node> nodes;
  std::vector<Priority> priorities;
  std::vector<size_t> became(graph.nodes.size());  // index into nodes
  nodes.reserve(graph.nodes.size());
  priorities.reserve(graph.nodes.size());
  // The collective that a node starts or waits for; nullptr if none does.
  const auto collective_of = [&](const Node& node) -> const Node* {
    if (graph::is_collective(node)) return &node;
    if (!graph::is_wait(node)) return nullptr;
    const int32_t maker = made_by[graph::list_of(node).front().value];
    return maker < 0 ? nullptr : &nodes[became[maker]];
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    const Priority here{static_cast<int64_t>(i), 0, 0};
    const Node* collective = collective_of(node);
    became[i] = nodes.size();
    const int found =
        works_on_lists(node, collective) && !node.module.empty() ? index.find(node.module) : -1;
    if (found < 0) {
      nodes.push_back(std::move(node));
      priorities.push_back(here);
      continue;
    }
    const Node& works = collective ? *collective : node;
    const Key key{found, node.micro_batch, node.phase, graph::is_wait(node), kind_of(works)};
    const bool gathers = graph::is_all_gather(works);
    const auto [entry, is_new] = merged.emplace(key, nodes.size());
    became[i] = entry->second;
    if (is_new) {
      nodes.push_back(std::move(node));
      nodes.back().module = plan[static_cast<size_t>(found)].name;
      priorities.push_back(here);
      continue;
    }
    // A gather is wanted by the first that reads it, all others have to wait for the last.
    if (!gathers) priorities[entry->second] = here;
    // Casts of shards come along. Left behind they would hold up what reads the gather, while the
    // rest of the step ran ahead: in a pipeline, where ranks wait for each other, for ever.
    if (graph::is_all_gather(node))
      graph::for_each_use(node, [&](const Use& use) {
        const int32_t cast = made_by[use.value];
        if (cast >= 0) priorities[became[cast]] = priorities[entry->second];
      });
    append(nodes[entry->second], node);
  }
  graph.nodes = std::move(nodes);
  order_by(graph, priorities, dependencies(graph, graph::producers(graph)));
}

}  // namespace heddle::passes
