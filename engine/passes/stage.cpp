#include "engine/passes/stage.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/cleanup.h"
#include "engine/passes/bucket_plan.h"
#include "engine/passes/graph_words.h"
#include "engine/recipe/mesh.h"

namespace heddle::passes {
namespace {

class Cutter {
 public:
  Cutter(Graph& graph, const StageOptions& options)
      : graph_(graph), options_(options), made_by_(graph::producers(graph)) {
    for (const graph::Binding& state : graph.states) state_of_[state.value] = state.value;
    for (const Node& node : graph.nodes)
      graph::for_each_use(node, [&](const Use& use) {
        if (const auto state = state_of_.find(use.value);
            use.written != kNoValue && state != state_of_.end())
          state_of_[use.written] = state->second;
      });
  }

  void run() {
    find_stages();
    find_weights_only();
    find_readers();
    const std::vector<Node> captured = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (size_t i = 0; i < captured.size(); ++i) {
      if (captured[i].phase == Phase::optimizer) {
        keep_of_optimizer(captured[i]);
      } else if (is_mine(stages_[i])) {
        keep(captured, i);
      }
    }
    drop_what_is_missing();
    graph::remove_unread_nodes(graph_);
  }

 private:
  bool is_mine(int64_t stage) const { return options_.pipeline.rank_of(stage) == options_.rank; }

  // By module; what has none stays with what it reads. A sum of gradients that all come from one
  // later stage is made there: one value crosses instead of several.
  void find_stages() {
    stages_.assign(graph_.nodes.size(), 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.phase == Phase::optimizer) continue;
      int64_t earliest = options_.pipeline.stages, latest = -1;
      graph::for_each_use(node, [&](const Use& use) {
        const int32_t maker = made_by_[use.value];
        if (maker < 0) return;
        earliest = std::min(earliest, stages_[maker]);
        latest = std::max(latest, stages_[maker]);
      });
      int64_t& stage = stages_[i];
      stage = options_.stage_of(node.module.text());
      if (stage < 0) stage = std::max<int64_t>(latest, 0);
      const bool sum = node.op->adds && node.phase == Phase::backward;
      if (sum && earliest == latest && latest > stage) stage = latest;
    }
  }

  // In blocks the backward nodes that no other module's and no other stage's backward needs; what
  // only moves or shows a value goes with those that read it.
  void find_weights_only() {
    needed_.assign(graph_.nodes.size(), false);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (node.phase != Phase::backward) continue;
      if (block_of(node.module.text()).empty()) needed_[i] = true;
      for_each_maker(i, [&](int32_t maker) {
        const Node& from = graph_.nodes[maker];
        const bool moves = graph::is_view(from) || graph::is_exchange(from);
        if (needed_[i] || stages_[maker] != stages_[i] || (!moves && from.module != node.module))
          needed_[maker] = true;
      });
    }
    need_what_reads_copies();
    for (size_t i = graph_.nodes.size(); i-- > 0;)
      if (needed_[i]) for_each_maker(i, [&](int32_t maker) { needed_[maker] = true; });
  }

  // A copy is a backward node that no gradient leads to. Those that other nodes need are not kept
  // for weight gradients.
  void need_what_reads_copies() {
    std::vector<bool> gradient(graph_.nodes.size(), false);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].phase != Phase::backward) continue;
      gradient[i] = block_of(graph_.nodes[i].module.text()).empty();
      bool reads_copy = false;
      for_each_maker(i, [&](int32_t maker) {
        gradient[i] = gradient[i] || gradient[maker];
        reads_copy = reads_copy || (needed_[maker] && !gradient[maker]);
      });
      if (reads_copy) needed_[i] = true;
    }
  }

  // The backward nodes that make the inputs of a backward node.
  template <typename Visit>
  void for_each_maker(size_t i, Visit&& visit) const {
    if (graph_.nodes[i].phase != Phase::backward) return;
    graph::for_each_use(graph_.nodes[i], [&](const Use& use) {
      const int32_t maker = made_by_[use.value];
      if (maker >= 0 && graph_.nodes[maker].phase == Phase::backward) visit(maker);
    });
  }

  // Which stages read a value besides the one that makes it.
  void find_readers() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].phase == Phase::optimizer) continue;
      graph::for_each_use(graph_.nodes[i], [&](const Use& use) {
        const int32_t maker = made_by_[use.value];
        if (maker < 0 || stages_[maker] == stages_[i]) return;
        const int64_t from = stages_[maker], to = stages_[i];
        const bool backward = graph_.nodes[maker].phase == Phase::backward;
        TORCH_CHECK(to - from == (backward ? -1 : 1), "stage ", to, " reads what ",
                    graph_.nodes[maker].op, " of ", graph_.nodes[maker].module, " in stage ", from,
                    " makes: only neighbouring stages exchange values");
        readers_[use.value].insert(to);
      });
    }
  }

  Node transfer(const char* op, const Node& maker, int64_t from, int64_t to, int64_t at) {
    Node node;
    node.op = op;
    node.module = maker.module;
    node.phase = maker.phase;
    node.stage = static_cast<int32_t>(at);
    const std::string group = recipe::transfer_group(from, to);
    graph_.groups[group] = 2;
    node.args.emplace_back(c10::IValue(group));
    return node;
  }

  ValueId copy_of(ValueId value) {
    graph_.values.push_back(graph_.values[value]);
    graph_.values.back().strides = {};
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  void wait_for(const Node& transfer, ValueId value) {
    Node wait = transfer;
    wait.op = "heddle.wait";
    wait.args = {Uses{{transfer.outputs.front(), kNoValue}}};
    wait.outputs = {value};
    graph_.nodes.push_back(std::move(wait));
  }

  void receive(const Node& maker, ValueId value, int64_t from, int64_t to) {
    Node node = transfer("heddle.activation_receive", maker, from, to, to);
    const graph::Value& what = graph_.values[value];
    node.args.insert(node.args.begin(), {Arg(c10::IValue(c10::IntArrayRef(what.sizes))),
                                         Arg(c10::IValue(static_cast<int64_t>(what.dtype))),
                                         Arg(c10::IValue(c10::Device(c10::kCPU)))});
    node.outputs = {copy_of(value)};
    graph_.nodes.push_back(node);
    const ValueId here = copy_of(value);
    received_[{value, to}] = here;
    wait_for(node, here);
  }

  void send(const Node& maker, ValueId value, int64_t from, int64_t to) {
    Node node = transfer("heddle.activation_send", maker, from, to, from);
    node.args.insert(node.args.begin(), Arg(Uses{{value, kNoValue}}));
    node.outputs = {copy_of(value)};
    graph_.nodes.push_back(node);
    wait_for(node, copy_of(value));
  }

  // Gathers again what the other part of backward has gathered.
  ValueId gathered_again(const std::vector<Node>& captured, ValueId value) {
    const int32_t wait = made_by_[value];
    if (options_.gathers_again.empty() || wait < 0 || !needed_[wait] ||
        captured[wait].phase != Phase::backward || !graph::is_wait(captured[wait]))
      return value;
    const Node& start = captured[made_by_[graph::list_of(captured[wait]).front().value]];
    if (!graph::is_exchange(start) || !graph::gathers(start) ||
        graph::group_of(start) != options_.gathers_again)
      return value;
    if (const auto known = again_.find(value); known != again_.end()) return known->second;
    Node copy = start;
    copy.stage = static_cast<int32_t>(stages_[wait]);
    copy.weights_only = true;
    for (ValueId& output : copy.outputs) output = copy_of(output);
    graph_.nodes.push_back(copy);
    Node wait_again = captured[wait];
    wait_again.stage = copy.stage;
    wait_again.weights_only = true;
    Uses& pending = graph::list_of(wait_again);
    for (size_t i = 0; i < pending.size(); ++i) pending[i].value = copy.outputs[i];
    for (ValueId& output : wait_again.outputs) {
      again_[output] = copy_of(output);
      output = again_[output];
    }
    graph_.nodes.push_back(std::move(wait_again));
    return again_.at(value);
  }

  void keep(const std::vector<Node>& captured, size_t i) {
    Node node = captured[i];
    node.stage = static_cast<int32_t>(stages_[i]);
    node.weights_only = node.phase == Phase::backward && !needed_[i];
    graph::for_each_use(node, [&](Use& use) {
      const int32_t maker = made_by_[use.value];
      if (maker < 0) return;
      if (stages_[maker] == stages_[i]) {
        if (node.weights_only) use.value = gathered_again(captured, use.value);
        return;
      }
      if (!received_.contains({use.value, stages_[i]}))
        receive(captured[maker], use.value, stages_[maker], stages_[i]);
      use.value = received_.at({use.value, stages_[i]});
    });
    graph_.nodes.push_back(std::move(node));
    for (ValueId output : captured[i].outputs)
      if (const auto readers = readers_.find(output); readers != readers_.end())
        for (int64_t to : readers->second) send(captured[i], output, stages_[i], to);
  }

  void keep_of_optimizer(const Node& node) {
    const int64_t stage = options_.stage_of(node.module.text());
    if (stage < 0 || is_mine(stage)) graph_.nodes.push_back(node);
  }

  // Lists keep what is made here; what reads anything else goes, and so do outputs and bindings.
  void drop_what_is_missing() {
    std::unordered_set<ValueId> here;
    for (const auto* bindings : {&graph_.inputs, &graph_.states})
      for (const graph::Binding& binding : *bindings) here.insert(binding.value);
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    std::unordered_set<ValueId> read;
    std::unordered_map<ValueId, ValueId>
        newest;  // state → its version here: others may not write it
    for (Node& node : nodes) {
      graph::for_each_use(node, [&](Use& use) {
        const auto state = state_of_.find(use.value);
        if (state == state_of_.end()) return;
        use.value = newest.try_emplace(state->second, state->second).first->second;
      });
      graph::for_each_use(node, [&](const Use& use) {
        if (const auto state = state_of_.find(use.value);
            use.written != kNoValue && state != state_of_.end())
          newest[state->second] = use.written;
      });
      bool whole = true;
      for (Arg& arg : node.args)
        if (auto* list = std::get_if<Uses>(&arg)) {
          list->erase(std::remove_if(list->begin(), list->end(),
                                     [&](const Use& use) { return !here.contains(use.value); }),
                      list->end());
          whole = whole && !list->empty();
        }
      graph::for_each_use(node, [&](const Use& use) { whole = whole && here.contains(use.value); });
      if (!whole) continue;
      graph::for_each_use(node, [&](const Use& use) {
        read.insert(use.value);
        if (use.written != kNoValue) here.insert(use.written);
      });
      here.insert(node.outputs.begin(), node.outputs.end());
      graph_.nodes.push_back(std::move(node));
    }
    std::erase_if(graph_.outputs, [&](const auto& output) { return !here.contains(output.value); });
    for (auto* bindings : {&graph_.inputs, &graph_.states})
      std::erase_if(*bindings, [&](const auto& binding) { return !read.contains(binding.value); });
  }

  Graph& graph_;
  const StageOptions& options_;
  std::vector<int32_t> made_by_;
  std::unordered_map<ValueId, ValueId> state_of_;  // version → state
  std::vector<int64_t> stages_;                    // by node
  std::vector<bool> needed_;  // by node: for more than gradients of its module's weights
  std::unordered_map<ValueId, std::unordered_set<int64_t>> readers_;
  std::map<std::pair<ValueId, int64_t>, ValueId> received_;  // value, stage → its name there
  std::unordered_map<ValueId, ValueId> again_;               // what is gathered again → that
};

}  // namespace

void keep_stages(Graph& graph, const StageOptions& options) { Cutter(graph, options).run(); }

}  // namespace heddle::passes
