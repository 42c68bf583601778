#include "engine/passes/unroll.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "engine/passes/graph_words.h"

namespace heddle::passes {
namespace {

using graph::Sum;

// For each value the state that it is a version of, as it enters or after a node that writes to it.
std::vector<ValueId> states_by_version(const Graph& graph) {
  std::vector<ValueId> state_of(graph.values.size(), kNoValue);
  for (const graph::Binding& state : graph.states) state_of[state.value] = state.value;
  for (const Node& node : graph.nodes)
    graph::for_each_use(node, [&](const Use& use) {
      if (use.written != kNoValue) state_of[use.written] = state_of[use.value];
    });
  return state_of;
}

// States that the step accumulates to and then sets to zero.
std::unordered_set<ValueId> step_sums(const Graph& graph, const std::vector<ValueId>& state_of) {
  std::unordered_map<ValueId, int> zeroed, accumulated, others;
  for (const Node& node : graph.nodes)
    graph::for_each_use(node, [&](const Use& use) {
      if (use.written == kNoValue || state_of[use.value] == kNoValue) return;
      if (node.op->sum == Sum::zeroed) {
        ++zeroed[state_of[use.value]];
      } else {
        ++(node.op->sum == Sum::added_to ? accumulated : others)[state_of[use.value]];
      }
    });
  std::unordered_set<ValueId> sums;
  for (const auto& [state, times] : zeroed)
    if (times == 1 && accumulated[state] > 0 && others[state] == 0) sums.insert(state);
  return sums;
}

class Unroller {
 public:
  Unroller(Graph& graph, const UnrollOptions& options)
      : graph_(graph),
        options_(options),
        state_of_(states_by_version(graph)),
        sums_(step_sums(graph, state_of_)),
        names_(static_cast<size_t>(graph.micro_batches),
               std::vector<ValueId>(graph.values.size(), kNoValue)),
        newest_(graph.values.size(), kNoValue) {}

  void run() {
    captured_ = std::move(graph_.nodes);
    graph_.nodes.clear();
    const auto times = static_cast<size_t>(graph_.micro_batches);
    graph_.nodes.reserve(captured_.size() * times);
    graph_.values.reserve(graph_.values.size() * times);
    find_shared();
    feed_again();
    if (options_.actions.empty()) {
      for (int32_t m = 0; m < graph_.micro_batches; ++m)
        for (const Part part : {Part::forward, Part::backward}) act({part, 0, m}, true);
    } else {
      for (size_t i = 0; i < options_.actions.size(); ++i) {
        const Action& action = options_.actions[i];
        act(action, false);
        if (action.part == Part::backward || action.part == Part::inputs)
          wait_for_sent(Phase::forward, action.stage, action.micro_batch);
        if (options_.received.empty()) continue;
        for (const int32_t micro_batch : options_.received[i])
          wait_for_sent(Phase::backward, action.stage, micro_batch);
      }
    }
    for (const auto& [of, waits] : under_way_)
      graph_.nodes.insert(graph_.nodes.end(), waits.begin(), waits.end());
    for (Node& node : captured_)
      if (node.phase == Phase::optimizer) add(std::move(node), 0);
    const int64_t last = graph_.micro_batches - 1;
    for (graph::Binding& output : graph_.outputs) output.value = now(output.value, last);
    std::erase_if(graph_.states, [&](const auto& state) { return sums_.contains(state.value); });
    graph_.micro_batches = 1;
  }

 private:
  static bool is_of(const Node& node, Part part) {
    switch (part) {
      case Part::forward:
        return node.phase == Phase::forward;
      case Part::backward:
        return node.phase == Phase::backward;
      case Part::inputs:
        return node.phase == Phase::backward && !node.weights_only;
      case Part::weights:
        return node.phase == Phase::backward && node.weights_only;
    }
    return false;
  }

  void act(const Action& action, bool any_stage) {
    const size_t begin = graph_.nodes.size();
    for (size_t i = 0; i < captured_.size(); ++i) {
      Node& node = captured_[i];
      if (!is_of(node, action.part) || !(any_stage || node.stage == action.stage)) continue;
      if (shared_[i] && !done_.insert(i).second) continue;
      const bool last = any_stage && action.micro_batch + 1 == graph_.micro_batches;
      add(last ? std::move(node) : Node(node), action.micro_batch);
    }
    last_action_ = receive_earlier(begin);
  }

  // An action's receives start before the action ahead of it begins.
  size_t receive_earlier(size_t begin) {
    const auto own = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto others = std::stable_partition(own, graph_.nodes.end(), graph::is_receive);
    std::rotate(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(last_action_), own, others);
    return begin + static_cast<size_t>(others - own);
  }

  // Values of states alone, which forward and backward leave as they are: parameters, cast
  // and gathered. Where they stay for the whole step, one copy serves all micro-batches. What ranks
  // reduce of states is small, and is always made once.
  void find_shared() {
    shared_.assign(captured_.size(), false);
    std::unordered_set<ValueId> known;
    for (const graph::Binding& state : graph_.states) known.insert(state.value);
    for (size_t i = 0; i < captured_.size(); ++i) {
      const Node& node = captured_[i];
      if (node.phase == Phase::optimizer || graph::is_exchange(node)) continue;
      bool fixed = true, any = false;
      graph::for_each_use(node, [&](const Use& use) {
        any = true;
        fixed = fixed && known.contains(use.value) && use.written == kNoValue;
      });
      shared_[i] = any && fixed;
      if (shared_[i]) known.insert(node.outputs.begin(), node.outputs.end());
    }
    if (!options_.gather_once) keep_reductions();
    for (size_t i = 0; i < captured_.size(); ++i)
      if (shared_[i])
        shared_values_.insert(captured_[i].outputs.begin(), captured_[i].outputs.end());
  }

  // Shared nodes: all-reduces, the makers of their inputs, and their waits.
  void keep_reductions() {
    std::unordered_set<ValueId> around;
    for (size_t i = 0; i < captured_.size(); ++i) {
      const Node& node = captured_[i];
      if (!shared_[i] || !graph::is_all_reduce(node)) continue;
      around.insert(node.outputs.begin(), node.outputs.end());
      graph::for_each_use(node, [&](const Use& use) { around.insert(use.value); });
    }
    for (size_t i = 0; i < captured_.size(); ++i) {
      if (!shared_[i]) continue;
      const Node& node = captured_[i];
      shared_[i] = around.contains(graph::is_wait(node) ? graph::list_of(node).front().value
                                                        : node.outputs.front());
    }
  }

  void feed_again() {
    if (graph_.micro_batches == 1) return;
    std::vector<bool> fed(graph_.values.size(), false);  // what forward and backward read
    for (const Node& node : captured_)
      if (node.phase != Phase::optimizer)
        graph::for_each_use(node, [&](const Use& use) { fed[use.value] = true; });
    const std::vector<graph::Binding> inputs = graph_.inputs;
    for (int64_t m = 1; m < graph_.micro_batches; ++m)
      for (const graph::Binding& input : inputs) {
        if (!fed[input.value]) continue;
        const ValueId value =
            graph_.add_value(graph_.values[input.value].sizes, graph_.values[input.value].dtype);
        graph_.inputs.push_back({input.name + "@" + std::to_string(m), value});
        names_[m][input.value] = value;
      }
  }

  // The name of a captured value in a micro-batch. Versions of a state follow each other over
  // the micro-batches: what enters one is what the one before left.
  ValueId now(ValueId value, int64_t m) const {
    if (const ValueId state = state_of_[value]; state != kNoValue)
      return newest_[state] == kNoValue ? value : newest_[state];
    if (shared_values_.contains(value)) return value;
    const ValueId name = names_[m][value];
    return name == kNoValue ? value : name;
  }

  ValueId renamed(ValueId value, int64_t m) {
    if (m == 0 || shared_values_.contains(value)) return value;
    graph_.values.push_back(graph_.values[value]);
    return names_[m][value] = static_cast<ValueId>(graph_.values.size()) - 1;
  }

  void add(Node node, int64_t m) {
    node.micro_batch = static_cast<int32_t>(m);
    if (is_sum(node, Sum::zeroed)) return;
    if (is_sum(node, Sum::added_to) && first_value(node, m)) return;
    graph::for_each_use(node, [&](Use& use) {
      const ValueId state = state_of_[use.value];
      use.value = now(use.value, m);
      if (use.written == kNoValue) return;
      use.written = renamed(use.written, m);
      if (state != kNoValue) newest_[state] = use.written;
    });
    for (ValueId& output : node.outputs)
      if (output != kNoValue) output = renamed(output, m);
    if (graph::is_send(node)) sent_.insert(node.outputs.front());
    const bool sent = graph::is_wait(node) && sent_.contains(graph::list_of(node).front().value);
    if (!sent) {
      graph_.nodes.push_back(std::move(node));
    } else {
      under_way_[{node.phase, node.stage, node.micro_batch}].push_back(std::move(node));
    }
  }

  // An activation has arrived when its gradient comes back, and a gradient when the stage that got
  // it sends what it does later: only then is it waited for, since ranks that wait for each other's
  // receiving could wait for ever. The last gradients are waited for at the end.
  void wait_for_sent(Phase phase, int32_t stage, int32_t micro_batch) {
    const auto found = under_way_.find({phase, stage, micro_batch});
    if (found == under_way_.end()) return;
    graph_.nodes.insert(graph_.nodes.end(), found->second.begin(), found->second.end());
    under_way_.erase(found);
  }

  bool is_sum(const Node& node, Sum sum) const {
    if (node.op->sum != sum) return false;
    return sums_.contains(state_of_[std::get<Use>(node.args[0]).value]);
  }

  // The first value is the sum; false where it must be converted first: then the sum begins at
  // zero.
  bool first_value(const Node& node, int64_t m) {
    const ValueId sum = std::get<Use>(node.args[0]).value;
    const ValueId value = now(std::get<Use>(node.args[1]).value, m);
    const ValueId state = state_of_[sum];
    if (newest_[state] != kNoValue) return false;
    if (graph_.values[value].dtype == graph_.values[sum].dtype) {
      newest_[state] = value;
      return true;
    }
    Node cast;
    cast.op = "aten._to_copy";
    cast.args = {Use{value, kNoValue}, c10::IValue(static_cast<int64_t>(graph_.values[sum].dtype))};
    cast.outputs = {graph_.add_value(graph_.values[sum].sizes, graph_.values[sum].dtype)};
    cast.module = node.module;
    cast.phase = node.phase;
    cast.stage = node.stage;
    cast.micro_batch = static_cast<int32_t>(m);
    newest_[state] = cast.outputs.front();
    graph_.nodes.push_back(std::move(cast));
    return true;
  }

  Graph& graph_;
  const UnrollOptions& options_;
  std::vector<Node> captured_;
  const std::vector<ValueId> state_of_;  // by captured value
  std::unordered_set<ValueId> sums_;
  std::vector<bool> shared_;  // by captured node
  std::unordered_set<size_t> done_;
  std::unordered_set<ValueId> shared_values_;
  std::vector<std::vector<ValueId>> names_;  // by micro-batch: captured → its name, if another
  std::vector<ValueId> newest_;              // by state: its newest version, if another
  std::unordered_set<ValueId> sent_;
  // Phase, stage and micro-batch of what is sent → what waits for it.
  std::map<std::tuple<Phase, int32_t, int32_t>, std::vector<Node>> under_way_;
  size_t last_action_ = 0;  // where it begins
};

}  // namespace

void unroll(Graph& graph, const UnrollOptions& options) { Unroller(graph, options).run(); }

std::pair<std::string, int64_t> micro_batch_input(const std::string& name) {
  const size_t at = name.rfind('@');
  if (at == std::string::npos) return {name, 0};
  int64_t number = 0;
  std::from_chars(name.data() + at + 1, name.data() + name.size(), number);
  return {name.substr(0, at), number};
}

}  // namespace heddle::passes
