#include "engine/passes/verify.h"

#include <algorithm>
#include <map>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>

#include "engine/passes/buffers.h"
#include "engine/passes/graph_words.h"
#include "engine/passes/in_place.h"
#include "engine/passes/join.h"

namespace heddle::passes {
namespace {

std::string text(const Node& node, size_t index) {
  return fmt::format("node {} ({}{}{})", index, node.op, node.module.empty() ? "" : " @",
                     node.module);
}

// The first fault that was found.
class Fault {
 public:
  template <typename... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) {
    if (!what_) what_ = fmt::format(format, std::forward<Args>(args)...);
  }
  explicit operator bool() const { return what_.has_value(); }
  Result<> result() const { return what_ ? Result<>(fail("{}", *what_)) : Result<>(); }

 private:
  std::optional<std::string> what_;
};

// Every node's uses, side by side: the rules walk over them many times.
class AllUses {
 public:
  explicit AllUses(const Graph& graph) {
    begin_.reserve(graph.nodes.size() + 1);
    uses_.reserve(3 * graph.nodes.size());
    for (const Node& node : graph.nodes) {
      begin_.push_back(uses_.size());
      graph::for_each_use(node, [&](const Use& use) { uses_.push_back(use); });
    }
    begin_.push_back(uses_.size());
  }
  std::span<const Use> of(size_t node) const {
    return {uses_.data() + begin_[node], uses_.data() + begin_[node + 1]};
  }
  std::span<const Use> of_all() const { return uses_; }

 private:
  std::vector<size_t> begin_;  // by node
  std::vector<Use> uses_;
};

// A collective and its wait.
struct Pairs {
  std::vector<int32_t> started;  // by value: the collective that makes it, or −1
  std::vector<int32_t> waited;   // by node: a collective's wait, or −1
};

constexpr int32_t kNone = -1;

Pairs pairs_of(const Graph& graph, const AllUses& uses, Fault& fault) {
  Pairs pairs{std::vector(graph.values.size(), kNone), std::vector(graph.nodes.size(), kNone)};
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph::is_collective(graph.nodes[i]))
      for (ValueId output : graph.nodes[i].outputs) pairs.started[output] = static_cast<int32_t>(i);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!graph::is_wait(node)) {
      for (const Use& use : uses.of(i))
        if (pairs.started[use.value] != kNone)
          fault("2: {} reads %{}, which has not been waited for", text(node, i), use.value);
      continue;
    }
    const auto& pending = graph::list_of(node);
    const int32_t start = pending.empty() ? kNone : pairs.started[pending.front().value];
    if (start == kNone) {
      fault("2: {} waits for what no collective makes", text(node, i));
      continue;
    }
    const Node& collective = graph.nodes[start];
    const bool all = std::equal(pending.begin(), pending.end(), collective.outputs.begin(),
                                collective.outputs.end(),
                                [](const Use& use, ValueId made) { return use.value == made; });
    if (!all)
      fault("2: {} does not take all that {} makes", text(node, i), text(collective, start));
    if (pairs.waited[start] != kNone)
      fault("2: {} is waited for a second time by {}", text(collective, start), text(node, i));
    pairs.waited[start] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph::is_collective(graph.nodes[i]) && pairs.waited[i] == kNone)
      fault("2: {} is never waited for", text(graph.nodes[i], i));
  return pairs;
}

// Rule 1.
void check_makers(const Graph& graph, const AllUses& uses, Fault& fault) {
  std::vector<bool> made(graph.values.size(), false), before(made);
  // `by` is called for a fault alone: this runs for every value after every pass.
  const auto make = [&](ValueId value, const auto& by) {
    if (made[value]) fault("1: {} makes %{}, which was there before", by(), value);
    made[value] = true;
  };
  for (const auto* bindings : {&graph.inputs, &graph.states})
    for (const graph::Binding& binding : *bindings)
      make(binding.value, [&] { return binding.name; });
  for (const Node& node : graph.nodes)
    if (node.next_step)
      for (ValueId output : node.outputs)
        if (output != kNoValue) before[output] = true;
  for (size_t i = 0; i < graph.nodes.size() && !fault; ++i) {
    const Node& node = graph.nodes[i];
    const auto this_node = [&] { return text(node, i); };
    for (const Use& use : uses.of(i))
      if (!made[use.value] && !(before[use.value] && !node.next_step))
        fault("1: {} reads %{} before it is made", text(node, i), use.value);
    for (const Use& use : uses.of(i))
      if (use.written != kNoValue) make(use.written, this_node);
    for (ValueId output : node.outputs)
      if (output != kNoValue) make(output, this_node);
  }
  for (const graph::Binding& output : graph.outputs)
    if (!made[output.value]) fault("1: nothing makes the output {}", output.name);
}

// Rule 3: each write to a tensor makes another version of it and all of its views.
class Versions {
 public:
  Versions(const Graph& graph, const AllUses& uses, const Pairs& pairs, Fault& fault)
      : graph_(graph),
        uses_(uses),
        pairs_(pairs),
        fault_(fault),
        root_(graph.values.size()),
        of_(graph.values.size(), 0),
        newest_(graph.values.size(), 0) {
    for (size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<ValueId>(i);
  }

  void check() {
    for (size_t i = 0; i < graph_.nodes.size() && !fault_; ++i) {
      const Node& node = graph_.nodes[i];
      read(i);
      if (graph::is_wait(node)) {
        const size_t start = pairs_.started[graph::list_of(node).front().value];
        // One of the step before read what states were when this one began.
        if (graph_.nodes[start].next_step) {
          unwritten(start);
        } else {
          read(start);
        }
      }
      make(i);
    }
    for (size_t i = 0; i < graph_.nodes.size() && !fault_; ++i)
      if (graph_.nodes[i].next_step && graph::is_collective(graph_.nodes[i])) read(i);
  }

 private:
  void read(size_t node) {
    for (const Use& use : uses_.of(node))
      if (of_[use.value] != newest_[root_[use.value]])
        fault_("3: {} reads %{}, which has been written to since", text(graph_.nodes[node], node),
               use.value);
  }

  void unwritten(size_t node) {
    for (const Use& use : uses_.of(node))
      if (newest_[root_of_later(use.value)] != 0)
        fault_("3: {} still reads %{} of the step before when it is written to",
               text(graph_.nodes[node], node), use.value);
  }

  // The root of a version that is made later in the step.
  ValueId root_of_later(ValueId value) {
    if (later_.empty()) {
      later_.resize(graph_.values.size());
      for (size_t i = 0; i < later_.size(); ++i) later_[i] = static_cast<ValueId>(i);
      for (const Use& use : uses_.of_all())
        if (use.written != kNoValue) later_[use.written] = later_[use.value];
    }
    return later_[value];
  }

  // The number of the version that is made so. What is joined is written to with its whole, which
  // is another one with any of its parts.
  int32_t write(ValueId root) {
    if (const auto parts = parts_.find(root); parts != parts_.end())
      for (const ValueId part : parts->second) write_part(part);
    write_wholes(root);
    return ++newest_[root];
  }
  void write_part(ValueId root) {
    ++newest_[root];
    if (const auto parts = parts_.find(root); parts != parts_.end())
      for (const ValueId part : parts->second) write_part(part);
  }
  void write_wholes(ValueId root) {
    const auto wholes = wholes_.find(root);
    if (wholes == wholes_.end()) return;
    for (const ValueId whole : wholes->second) {
      ++newest_[whole];
      write_wholes(whole);
    }
  }

  void make(size_t index) {
    for (const Use& use : uses_.of(index)) {
      if (use.written == kNoValue) continue;
      root_[use.written] = root_[use.value];
      of_[use.written] = write(root_[use.value]);
    }
    const Node& node = graph_.nodes[index];
    if (node.op->role != graph::Role::view) return;
    if (is_join(node)) {
      for (const Use& part : graph::list_of(node)) {
        wholes_[root_[part.value]].push_back(node.outputs.front());
        parts_[node.outputs.front()].push_back(root_[part.value]);
      }
      return;
    }
    const auto* base = std::get_if<Use>(&node.args.front());
    if (!base || base->value == kNoValue) return;
    for (ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      root_[output] = root_[base->value];
      of_[output] = of_[base->value];
    }
  }

  const Graph& graph_;
  const AllUses& uses_;
  const Pairs& pairs_;
  Fault& fault_;
  std::vector<ValueId> root_;         // by value: whose memory it is
  std::vector<int32_t> of_, newest_;  // by value, by root: versions
  // By the root of joins; their memory is freed at once.
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::map<ValueId, std::pmr::vector<ValueId>> parts_{&memory_}, wholes_{&memory_};
  std::vector<ValueId> later_;
};

// Rule 4: who was the last to put something into each part of the arena.
class Places {
 public:
  Places(const Graph& graph, const AllUses& uses, const MemoryPlan& memory, const Pairs& pairs,
         Fault& fault)
      : graph_(graph),
        uses_(uses),
        memory_(memory),
        pairs_(pairs),
        fault_(fault),
        buffer_(buffers(graph)) {}

  void check() {
    for (const Node& node : graph_.nodes)
      if (node.next_step)
        for (ValueId output : node.outputs)
          if (output != kNoValue) put(output);
    for (size_t i = 0; i < graph_.nodes.size() && !fault_; ++i) {
      const Node& node = graph_.nodes[i];
      reads(i, i);
      if (is_join(node)) parts_lie_in_order(node, i);
      if (graph::is_wait(node)) {
        const size_t start = pairs_.started[graph::list_of(node).front().value];
        reads(start, i);
        if (!graph_.nodes[start].next_step) has_scratch(start, i);
      }
      if (put_scratch(i)) reads(i, i);
      if (!is_join(node)) put_results(node, i);
      for (ValueId output : node.outputs)
        if (output != kNoValue) read(output, node, i);
      has_scratch(i, i);
    }
    const size_t end = graph_.nodes.size();
    for (size_t i = 0; i < end && !fault_; ++i)
      if (graph_.nodes[i].next_step && graph::is_collective(graph_.nodes[i])) reads(i, i);
    for (const graph::Binding& output : graph_.outputs)
      if (const auto by = other_owner(output.value))
        fault_("4: the output {} is where {} was put", output.name, *by);
  }

 private:
  struct Range {
    int64_t end;
    int64_t owner;  // a root; −1 − node: a node's scratch
  };

  // The owner of a value's memory as long as any of it is needed, and the part of it that is the
  // value's.
  ValueId root(ValueId value) const { return memory_.root[value]; }
  ValueId buffer(ValueId value) const { return buffer_[value]; }
  int64_t begin(ValueId value) const { return memory_.place[buffer(value)]; }
  int64_t bytes(ValueId value) const { return memory_.bytes[buffer(value)]; }
  bool in_arena(ValueId value) const { return begin(value) >= 0 && bytes(value) > 0; }

  void put(int64_t begin, int64_t bytes, int64_t owner) {
    const int64_t end = begin + bytes;
    auto range = ranges_.lower_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second.end > begin) --range;
    while (range != ranges_.end() && range->first < end) {
      const auto [at, old] = *range;
      range = ranges_.erase(range);
      if (at < begin) ranges_[at] = {begin, old.owner};
      if (old.end > end) range = ranges_.emplace(end, Range{old.end, old.owner}).first;
    }
    ranges_[begin] = {end, owner};
  }

  void put(ValueId value) {
    if (in_arena(value)) put(begin(value), bytes(value), root(value));
  }

  bool put_scratch(size_t index) {
    if (memory_.scratch_bytes[index] <= 0) return false;
    put(memory_.scratch_place[index], memory_.scratch_bytes[index], scratch(index));
    return true;
  }

  static int64_t scratch(size_t index) { return -1 - static_cast<int64_t>(index); }

  // Another owner of any of these bytes; several ranges of one owner may lie side by side.
  std::optional<std::string> other_owner(int64_t begin, int64_t bytes, int64_t owner) const {
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin()) --range;
    for (int64_t at = begin; at < begin + bytes; at = range->second.end, ++range) {
      if (range == ranges_.end() || range->first > at || range->second.end <= at) return "nothing";
      const int64_t other = range->second.owner;
      if (other != owner)
        return other >= 0 ? fmt::format("%{}", other)
                          : fmt::format("the scratch memory of node {}", -1 - other);
    }
    return std::nullopt;
  }
  std::optional<std::string> other_owner(ValueId value) const {
    if (!in_arena(value)) return std::nullopt;
    return other_owner(begin(value), bytes(value), root(value));
  }

  void parts_lie_in_order(const Node& join, size_t index) {
    int64_t at = begin(join.outputs.front());
    for (const Use& part : graph::list_of(join)) {
      if (begin(part.value) != at || root(part.value) != root(join.outputs.front()))
        fault_("4: {} has %{} elsewhere than where it belongs", text(join, index), part.value);
      at += graph_.values[part.value].bytes();
    }
  }

  void read(ValueId value, const Node& node, size_t index) {
    if (const auto by = other_owner(value))
      fault_("4: {} needs %{}, where {} was put", text(node, index), value, *by);
  }
  /// `node` needs what it reads until `index` has run.
  void reads(size_t node, size_t index) {
    for (const Use& use : uses_.of(node)) read(use.value, graph_.nodes[node], index);
  }
  void has_scratch(size_t of, size_t index) {
    if (memory_.scratch_bytes[of] == 0) return;
    if (const auto by =
            other_owner(memory_.scratch_place[of], memory_.scratch_bytes[of], scratch(of)))
      fault_("4: {} needs its scratch memory until node {}, where {} was put",
             text(graph_.nodes[of], of), index, *by);
  }

  // A result may lie where an argument lay that its operator lets it take.
  void put_results(const Node& node, size_t index) {
    for (size_t j = 0; j < node.outputs.size(); ++j) {
      const ValueId output = node.outputs[j];
      if (output == kNoValue || buffer(output) != output || !in_arena(output)) continue;
      const auto takes = may_take(graph_, node, j);
      for (size_t position = 0; position < node.args.size(); ++position) {
        const auto check = [&](const Use& use) {
          if (use.value == kNoValue || !overlap(use.value, output)) return;
          const bool may = std::find(takes.begin(), takes.end(), position) != takes.end();
          if (!may)
            fault_("4: {} puts %{} where it reads %{}", text(node, index), output, use.value);
        };
        if (const auto* use = std::get_if<Use>(&node.args[position])) check(*use);
        if (const auto* uses = std::get_if<graph::Uses>(&node.args[position]))
          for (const Use& use : *uses) check(use);
      }
      put(output);
    }
  }

  bool overlap(ValueId a, ValueId b) const {
    if (!in_arena(a) || buffer(a) == buffer(b)) return false;
    return begin(a) < begin(b) + bytes(b) && begin(b) < begin(a) + bytes(a);
  }

  const Graph& graph_;
  const AllUses& uses_;
  const MemoryPlan& memory_;
  const Pairs& pairs_;
  Fault& fault_;
  std::vector<ValueId> buffer_;
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::map<int64_t, Range> ranges_{&pool_};  // by where they begin
};

}  // namespace

Result<> verify(const Graph& graph, const MemoryPlan& memory) {
  Fault fault;
  const AllUses uses(graph);
  check_makers(graph, uses, fault);
  if (fault) return fault.result();
  const Pairs pairs = pairs_of(graph, uses, fault);
  if (fault) return fault.result();
  Versions(graph, uses, pairs, fault).check();
  if (!fault && !memory.root.empty()) Places(graph, uses, memory, pairs, fault).check();
  return fault.result();
}

}  // namespace heddle::passes
