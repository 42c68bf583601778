#include "engine/passes/unroll.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace heddle::passes {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Phase;
using graph::Use;
using graph::ValueId;

constexpr const char* kAccumulate = "heddle.accumulate_";
constexpr const char* kZero = "aten.zero_";

// All versions of a state: as it enters, and after each node that writes to it.
std::unordered_map<ValueId, ValueId> states_by_version(const Graph& graph) {
  std::unordered_map<ValueId, ValueId> state_of;
  for (const graph::Binding& state : graph.states) state_of[state.value] = state.value;
  for (const Node& node : graph.nodes)
    graph::for_each_use(node, [&](const Use& use) {
      const auto state = state_of.find(use.value);
      if (use.written != kNoValue && state != state_of.end()) state_of[use.written] = state->second;
    });
  return state_of;
}

// States that every step accumulates to and then sets to zero.
std::unordered_set<ValueId> step_sums(const Graph& graph,
                                      const std::unordered_map<ValueId, ValueId>& state_of) {
  std::unordered_map<ValueId, int> zeroed, others;
  for (const Node& node : graph.nodes)
    graph::for_each_use(node, [&](const Use& use) {
      const auto state = state_of.find(use.value);
      if (use.written == kNoValue || state == state_of.end()) return;
      if (node.op == kZero) {
        ++zeroed[state->second];
      } else if (node.op != kAccumulate) {
        ++others[state->second];
      }
    });
  std::unordered_set<ValueId> sums;
  for (const auto& [state, times] : zeroed)
    if (times == 1 && others[state] == 0) sums.insert(state);
  return sums;
}

class Unroller {
 public:
  explicit Unroller(Graph& graph)
      : graph_(graph), state_of_(states_by_version(graph)), sums_(step_sums(graph, state_of_)) {}

  void run() {
    const std::vector<Node> captured = std::move(graph_.nodes);
    const std::vector<graph::Binding> inputs = graph_.inputs;
    std::unordered_set<ValueId> fed;  // inputs that forward and backward read
    for (const Node& node : captured)
      if (node.phase != Phase::optimizer)
        graph::for_each_use(node, [&](const Use& use) { fed.insert(use.value); });
    graph_.nodes.clear();
    for (int64_t m = 0; m < graph_.micro_batches; ++m) {
      if (m > 0)
        for (const graph::Binding& input : inputs)
          if (fed.contains(input.value)) feed_again(input, m);
      for (const Node& node : captured)
        if (node.phase != Phase::optimizer) add(node, m);
    }
    for (const Node& node : captured)
      if (node.phase == Phase::optimizer) add(node, 0);
    for (graph::Binding& output : graph_.outputs) output.value = now(output.value);
    std::erase_if(graph_.states, [&](const auto& state) { return sums_.contains(state.value); });
    graph_.micro_batches = 1;
  }

 private:
  void feed_again(const graph::Binding& input, int64_t m) {
    const ValueId value =
        graph_.add_value(graph_.values[input.value].sizes, graph_.values[input.value].dtype);
    graph_.inputs.push_back({input.name + "@" + std::to_string(m), value});
    names_[input.value] = value;
  }

  // What a captured value is called in the copy under way. Versions of a state follow each other
  // over the copies: what enters one is what the one before left.
  ValueId now(ValueId value) const {
    if (const auto state = state_of_.find(value); state != state_of_.end()) {
      const auto newest = newest_.find(state->second);
      return newest == newest_.end() ? value : newest->second;
    }
    const auto name = names_.find(value);
    return name == names_.end() ? value : name->second;
  }

  ValueId renamed(ValueId value, int64_t m) {
    if (m == 0) return value;
    graph::Value copy = graph_.values[value];
    graph_.values.push_back(std::move(copy));
    return names_[value] = static_cast<ValueId>(graph_.values.size()) - 1;
  }

  void add(Node node, int64_t m) {
    node.micro_batch = static_cast<int32_t>(m);
    if (is_sum(node, kZero)) return;
    if (is_sum(node, kAccumulate) && m == 0 && first_value(node)) return;
    graph::for_each_use(node, [&](Use& use) {
      const auto state = state_of_.find(use.value);
      use.value = now(use.value);
      if (use.written == kNoValue) return;
      use.written = renamed(use.written, m);
      if (state != state_of_.end()) newest_[state->second] = use.written;
    });
    for (ValueId& output : node.outputs)
      if (output != kNoValue) output = renamed(output, m);
    graph_.nodes.push_back(std::move(node));
  }

  bool is_sum(const Node& node, const char* op) const {
    if (node.op != op) return false;
    const auto state = state_of_.find(std::get<Use>(node.args[0]).value);
    return state != state_of_.end() && sums_.contains(state->second);
  }

  // The first value is the sum; false where it must be converted first: then the sum begins at
  // zero.
  bool first_value(const Node& node) {
    const ValueId sum = std::get<Use>(node.args[0]).value;
    const ValueId value = now(std::get<Use>(node.args[1]).value);
    const ValueId state = state_of_.at(sum);
    if (newest_.contains(state)) return false;
    if (graph_.values[value].dtype == graph_.values[sum].dtype) {
      newest_[state] = value;
      return true;
    }
    Node cast;
    cast.op = "aten._to_copy";
    cast.args = {Use{value, kNoValue}, static_cast<int64_t>(graph_.values[sum].dtype),
                 c10::IValue(),        c10::IValue(),
                 c10::IValue(),        false,
                 c10::IValue()};
    cast.outputs = {graph_.add_value(graph_.values[sum].sizes, graph_.values[sum].dtype)};
    cast.module = node.module;
    cast.phase = node.phase;
    newest_[state] = cast.outputs.front();
    graph_.nodes.push_back(std::move(cast));
    return true;
  }

  Graph& graph_;
  std::unordered_map<ValueId, ValueId> state_of_;
  std::unordered_set<ValueId> sums_;
  std::unordered_map<ValueId, ValueId> names_;   // captured value → its name in this copy
  std::unordered_map<ValueId, ValueId> newest_;  // state → its newest version
};

}  // namespace

void unroll(Graph& graph) { Unroller(graph).run(); }

std::pair<std::string, int64_t> micro_batch_input(const std::string& name) {
  const size_t at = name.rfind('@');
  if (at == std::string::npos) return {name, 0};
  int64_t number = 0;
  std::from_chars(name.data() + at + 1, name.data() + name.size(), number);
  return {name.substr(0, at), number};
}

}  // namespace heddle::passes
