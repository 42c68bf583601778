#include "engine/passes/fuse.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/graph/operators.h"
#include "engine/passes/graph_words.h"

namespace heddle::passes {
namespace {

using graph::Op;

// An operator of the table that does two in one.
struct Fused {
  Op op, first, second;
  size_t argument;            // of the second: what it has of the first
  size_t arguments, results;  // of the one
};

std::vector<Fused> fused_operators() {
  std::vector<Fused> all;
  for (const Op op : graph::all_operators()) {
    const graph::Fuses& two = op->fuses;
    if (two.first.empty()) continue;
    const auto handle = graph::find_operator(op);
    TORCH_CHECK(handle, op.text(), " is in the table of operators, and LibTorch does not know it");
    const c10::FunctionSchema& schema = handle->schema();
    all.push_back({op, two.first, two.second, two.argument, schema.arguments().size(),
                   schema.returns().size()});
  }
  return all;
}

// Whether what the node reads as this argument may be what the operator does before it.
bool reads_so(const Node& node, const Fused& fused, size_t argument) {
  return argument == fused.argument || (node.op->adds && argument < 2);
}

bool same_turn_and_weights(const Node& a, const Node& b) {
  return a.phase == b.phase && a.stage == b.stage && a.weights_only == b.weights_only &&
         a.micro_batch == b.micro_batch && a.next_step == b.next_step;
}

class Fuser {
 public:
  Fuser(Graph& graph, bool unrolled)
      : graph_(graph),
        unrolled_(unrolled),
        made_by_(graph::producers(graph)),
        first_read_(graph.values.size(), kNever),
        reads_(graph.values.size(), 0),
        gone_(graph.nodes.size(), false) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      bool writes = false;
      graph::for_each_use(graph_.nodes[i], [&](const Use& use) {
        first_read_[use.value] = std::min(first_read_[use.value], static_cast<int32_t>(i));
        ++reads_[use.value];
        writes = writes || use.written != kNoValue;
      });
      writes_.push_back((writes_.empty() ? 0 : writes_.back()) + (writes ? 1 : 0));
    }
    for (const graph::Binding& output : graph_.outputs) ++reads_[output.value];
  }

  void run() {
    static const std::vector<Fused> all = fused_operators();
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const Fused& fused : all) {
        if (!(graph_.nodes[i].op == fused.second)) continue;
        if (!unrolled_ && fused.second->sum == graph::Sum::added_to) continue;
        if (becomes(fused, static_cast<int32_t>(i))) break;
      }
    size_t kept = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_[i]) continue;
      if (kept != i) graph_.nodes[kept] = std::move(graph_.nodes[i]);
      ++kept;
    }
    graph_.nodes.resize(kept);
  }

 private:
  static constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

  // Makes one of the node and one of those that it reads from; false where it cannot.
  bool becomes(const Fused& fused, int32_t index) {
    const auto& args = graph_.nodes[index].args;
    for (size_t i = 0; i < args.size(); ++i) {
      const auto* use = std::get_if<Use>(&args[i]);
      if (!use || use->value == kNoValue || !reads_so(graph_.nodes[index], fused, i)) continue;
      const int32_t from = made_by_[use->value];
      if (from >= 0 && graph_.nodes[from].op == fused.first &&
          graph_.nodes[from].outputs.front() == use->value && join(fused, from, index, i))
        return true;
    }
    return false;
  }

  // Makes one of two nodes, of which the second reads the first as this argument.
  bool join(const Fused& fused, int32_t before, int32_t index, size_t argument) {
    const Node &first = graph_.nodes[before], &second = graph_.nodes[index];
    const bool all_results = fused.results == first.outputs.size() + second.outputs.size();
    if (!same_turn_and_weights(first, second) || read_by(second, before) != 1 ||
        first.args.size() + second.args.size() - 1 != fused.arguments ||
        (!all_results && reads_[first.outputs.front()] != 1))
      return false;
    const int32_t place = may_go_up(second, before, index)    ? before
                          : may_go_down(first, before, index) ? index
                                                              : -1;
    if (place < 0) return false;
    Node one = second;
    one.op = fused.op;
    one.args.assign(first.args.begin(), first.args.end());
    for (size_t i = 0; i < second.args.size(); ++i)
      if (i != argument) one.args.push_back(second.args[i]);
    one.outputs.insert(one.outputs.end(), first.outputs.begin() + (all_results ? 0 : 1),
                       first.outputs.end());
    gone_[before] = gone_[index] = true;
    gone_[place] = false;
    for (const ValueId output : one.outputs)
      if (output != kNoValue) made_by_[output] = place;
    graph::for_each_use(one, [&](const Use& use) {
      if (use.written != kNoValue) made_by_[use.written] = place;
    });
    graph_.nodes[place] = std::move(one);
    return true;
  }

  // How many of the values that the second reads the first makes.
  int read_by(const Node& second, int32_t first) const {
    int count = 0;
    graph::for_each_use(second, [&](const Use& use) { count += made_by_[use.value] == first; });
    return count;
  }

  bool may_go_up(const Node& second, int32_t to, int32_t from) const {
    bool may = true;
    graph::for_each_use(second, [&](const Use& use) {
      may = may && made_by_[use.value] <= to &&
            (use.written == kNoValue || first_read_[use.value] >= from);
    });
    return may;
  }

  bool may_go_down(const Node& first, int32_t from, int32_t to) const {
    return writes_[to] == writes_[from] &&
           std::all_of(first.outputs.begin(), first.outputs.end(), [&](ValueId output) {
             return output == kNoValue || first_read_[output] >= to;
           });
  }

  Graph& graph_;
  bool unrolled_;
  std::vector<int32_t> made_by_;
  std::vector<int32_t> first_read_, reads_;  // by value: by which node first; how often
  std::vector<int32_t> writes_;              // by node: nodes up to it that write to something
  std::vector<bool> gone_;                   // by node: done by another
};

}  // namespace

void fuse(Graph& graph, bool unrolled) { Fuser(graph, unrolled).run(); }

}  // namespace heddle::passes
