#include "engine/cost/memory_use.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using plan::Category;
using plan::MemoryBytes;

Category category_of(holdings::Role role) {
  switch (role) {
    case holdings::Role::optimizer:
      return Category::optimizer;
    case holdings::Role::gradient_sum:
      return Category::gradients;
    case holdings::Role::parameter:
    case holdings::Role::scale:
      return Category::parameters;
    case holdings::Role::table:
      break;
  }
  return Category::activations;
}

/// Bytes of the states that a graph has, by their roles.
MemoryBytes bytes_of_states(const Graph& graph, const std::vector<holdings::State>& states) {
  std::unordered_map<std::string_view, holdings::Role> roles;
  for (const holdings::State& state : states) roles.emplace(state.name, state.role);
  MemoryBytes bytes;
  for (const graph::Binding& state : graph.states) {
    const auto found = roles.find(state.name);
    const holdings::Role role = found == roles.end() ? holdings::Role::table : found->second;
    bytes[category_of(role)] += graph.values[state.value].bytes();
  }
  return bytes;
}

/// By root: what the memory of the arena is for.
std::vector<Category> categories(const Graph& graph, const passes::MemoryPlan& memory) {
  std::vector<Category> of(graph.values.size(), Category::activations);
  const auto mark = [&](ValueId value, Category category) {
    if (value != graph::kNoValue) of[memory.root[value]] = category;
  };
  for (const Node& node : graph.nodes) {
    if (node.phase == graph::Phase::optimizer)
      for (const ValueId output : node.outputs) mark(output, Category::optimizer);
  }
  for (const Node& node : graph.nodes) {
    const bool gathers = graph::is_all_gather(node);
    const bool reduces =
        graph::is_reduce_scatter(node) || (graph::is_all_reduce(node) && !node.module.empty());
    if (!gathers && !reduces) continue;
    // A sent value is a copy only where it was cast first: states are not in the arena.
    for (const graph::Use& use : graph::list_of(node)) mark(use.value, Category::communication);
    for (const ValueId output : node.outputs)
      mark(output, gathers ? Category::communication : Category::gradients);
  }
  return of;
}

}  // namespace

MemoryUse memory_use(const Graph& graph, const passes::MemoryPlan& memory,
                     const std::vector<holdings::State>& held, int64_t beyond) {
  MemoryBytes states = bytes_of_states(graph, held);
  for (const graph::Binding& input : graph.inputs)
    states[Category::activations] += graph.values[input.value].bytes();

  const size_t nodes = graph.nodes.size();
  std::vector<MemoryBytes> change(nodes + 1);
  const std::vector<Category> of = categories(graph, memory);
  for (size_t value = 0; value < memory.place.size(); ++value) {
    const bool is_root = memory.root[value] == static_cast<ValueId>(value);
    if (!is_root || memory.place[value] < 0 || memory.until[value] < memory.from[value]) continue;
    change[static_cast<size_t>(memory.from[value])][of[value]] += memory.bytes[value];
    const size_t end = std::min(static_cast<size_t>(memory.until[value]) + 1, nodes);
    change[end][of[value]] -= memory.bytes[value];
  }
  MemoryUse use;
  use.at_node.reserve(nodes);
  MemoryBytes now = states;
  use.peak = states;
  for (size_t i = 0; i < nodes; ++i) {
    for (size_t c = 0; c < plan::kCategories; ++c) now.bytes[c] += change[i].bytes[c];
    MemoryBytes here = now;
    here[Category::workspace] += memory.scratch_bytes[i];
    if (here.total() > use.peak.total()) use.peak = here;
    use.at_node.push_back(here);
  }
  use.peak_bytes = states.total() + memory.arena_bytes + beyond;
  const int64_t always = use.peak_bytes - use.peak.total();
  use.peak[Category::other] += always;
  for (MemoryBytes& here : use.at_node) here[Category::other] += always;
  return use;
}

}  // namespace heddle::cost
