#include "engine/passes/memory.h"

#include <algorithm>
#include <vector>

#include "engine/passes/buffers.h"
#include "engine/passes/graph_words.h"
#include "engine/passes/in_place.h"
#include "engine/passes/join.h"
#include "engine/passes/lists.h"

namespace heddle::passes {
namespace {

// Free ranges of the arena in order, neighbours joined; the first that is large enough is taken. A
// deep model leaves hundreds of holes: they lie side by side, as looking through them is what
// planning would spend its time on.
class FreeRanges {
 public:
  int64_t take(int64_t bytes) {
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      if (range->bytes() < bytes) continue;
      const int64_t offset = range->begin;
      range->begin += bytes;
      if (range->bytes() == 0) ranges_.erase(range);
      return offset;
    }
    // The last free range may reach to the arena's end, which is where it grows.
    int64_t offset = end_;
    if (!ranges_.empty() && ranges_.back().end == end_) {
      offset = ranges_.back().begin;
      ranges_.pop_back();
    }
    end_ = offset + bytes;
    return offset;
  }

  void give_back(int64_t offset, int64_t bytes) {
    const int64_t end = offset + bytes;
    const auto next =
        std::lower_bound(ranges_.begin(), ranges_.end(), offset,
                         [](const Range& each, int64_t at) { return each.begin < at; });
    const bool joins_before = next != ranges_.begin() && std::prev(next)->end == offset;
    const bool joins_next = next != ranges_.end() && next->begin == end;
    if (joins_before && joins_next) {
      std::prev(next)->end = next->end;
      ranges_.erase(next);
    } else if (joins_before) {
      std::prev(next)->end = end;
    } else if (joins_next) {
      next->begin = offset;
    } else {
      ranges_.insert(next, {offset, end});
    }
  }

  int64_t end() const { return end_; }

 private:
  struct Range {
    int64_t begin, end;
    int64_t bytes() const { return end - begin; }
  };
  std::vector<Range> ranges_;
  int64_t end_ = 0;
};

class Planner {
 public:
  Planner(const Graph& graph, const ScratchBytes& scratch_bytes, int64_t alignment)
      : graph_(graph), scratch_bytes_(scratch_bytes) {
    plan_.alignment = alignment;
  }

  MemoryPlan run() {
    find_roots();
    find_sizes();
    find_waits();
    find_last_uses();
    place_all();
    return std::move(plan_);
  }

 private:
  ValueId& root(ValueId value) { return plan_.root[value]; }

  int64_t aligned(int64_t bytes) const {
    return (bytes + plan_.alignment - 1) / plan_.alignment * plan_.alignment;
  }

  // A part's root is the whole that it is joined to, which may be a part itself.
  void find_roots() {
    const std::vector<ValueId> buffer = buffers(graph_);
    std::vector<ValueId> whole(graph_.values.size(), kNoValue);
    std::vector<int64_t> at(graph_.values.size(), 0);
    for (const Node& node : graph_.nodes) {
      if (!is_join(node)) continue;
      const auto& parts = graph::list_of(node);
      const ValueId joined = node.outputs.front();
      if (const ValueId known = whole[buffer[parts.front().value]]; known != kNoValue) {
        whole[joined] = known;  // joined before
        continue;
      }
      int64_t offset = 0;
      for (const Use& part : parts) {
        whole[buffer[part.value]] = joined;
        at[buffer[part.value]] = offset;
        offset += graph_.values[part.value].bytes();
      }
    }
    plan_.root = buffer;
    for (size_t value = 0; value < buffer.size(); ++value) {
      int64_t offset = 0;
      for (ValueId up = buffer[value]; whole[up] != kNoValue; up = whole[up]) {
        offset += at[up];
        plan_.root[value] = whole[up];
      }
      if (buffer[value] == static_cast<ValueId>(value) && plan_.root[value] != buffer[value])
        parts_.push_back({static_cast<ValueId>(value), offset});
    }
  }

  void find_sizes() {
    plan_.bytes.assign(graph_.values.size(), 0);
    for (size_t i = 0; i < graph_.values.size(); ++i)
      plan_.bytes[i] = aligned(graph_.values[i].bytes());
    for (const Node& node : graph_.nodes) {
      if (graph::gathers(node)) {
        const auto& shards = graph::list_of(node);
        for (size_t i = 0; i < shards.size(); ++i) pad(node.outputs[i], shards[i].value, node);
      } else if (graph::scatters(node)) {
        const auto& fulls = graph::list_of(node);
        for (size_t i = 0; i < fulls.size(); ++i) pad(fulls[i].value, node.outputs[i], node);
      }
    }
  }

  // A whole tensor has room for the shards of all ranks, padding included.
  void pad(ValueId full, ValueId shard, const Node& collective) {
    int64_t& bytes = plan_.bytes[root(full)];
    bytes = std::max(bytes,
                     aligned(graph::ranks_of(graph_, collective) * graph_.values[shard].bytes()));
  }

  void find_waits() {
    waited_.assign(graph_.values.size(), -1);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph::is_wait(graph_.nodes[i]))
        waited_[graph::list_of(graph_.nodes[i]).front().value] = static_cast<int32_t>(i);
  }

  // The node at which the memory of this one is no longer touched.
  int32_t done_at(int32_t index) const {
    const Node& node = graph_.nodes[index];
    if (!graph::is_collective(node)) return index;
    if (node.next_step) return static_cast<int32_t>(graph_.nodes.size());
    return std::max(index, waited_[node.outputs.front()]);
  }

  void find_last_uses() {
    const auto count = static_cast<int32_t>(graph_.nodes.size());
    last_use_.assign(graph_.values.size(), -1);
    for (int32_t i = 0; i < count; ++i) {
      const Node& node = graph_.nodes[i];
      const int32_t until = done_at(i);
      auto used = [&](ValueId value) {
        int32_t& last = last_use_[root(value)];
        last = std::max(last, until);
      };
      graph::for_each_use(node, [&](const Use& use) { used(use.value); });
      for (ValueId output : node.outputs)
        if (output != kNoValue) used(output);
    }
    for (const graph::Binding& output : graph_.outputs) last_use_[root(output.value)] = count;
  }

  void place(ValueId value) {
    plan_.place[value] = free_.take(plan_.bytes[value]);
    live_ += plan_.bytes[value];
    plan_.live_bytes = std::max(plan_.live_bytes, live_);
  }

  void remove(ValueId value) {
    free_.give_back(plan_.place[value], plan_.bytes[value]);
    live_ -= plan_.bytes[value];
  }

  // The value whose place result `output` of a node takes, or kNoValue: memory of the arena that is
  // all of an argument, ends here, and is read in no other shape.
  ValueId replaced(int32_t index, size_t output) {
    const Node& node = graph_.nodes[index];
    const ValueId result = node.outputs[output];
    for (const size_t position : may_take(graph_, node, output)) {
      const ValueId memory = root(std::get<Use>(node.args[position]).value);
      if (plan_.place[memory] < 0 || last_use_[memory] != index || given_[memory] ||
          plan_.bytes[memory] != plan_.bytes[result])
        continue;
      bool in_shape = true;
      graph::for_each_use(node, [&](const Use& use) {
        in_shape = in_shape && (root(use.value) != memory ||
                                graph_.values[use.value].sizes == graph_.values[result].sizes);
      });
      if (in_shape) return memory;
    }
    return kNoValue;
  }

  void place_all() {
    const auto count = static_cast<int32_t>(graph_.nodes.size());
    plan_.place.assign(graph_.values.size(), -1);
    given_.assign(graph_.values.size(), false);
    plan_.from.assign(graph_.values.size(), 0);
    plan_.until = last_use_;
    plan_.scratch_place.assign(graph_.nodes.size(), 0);
    plan_.scratch_bytes.assign(graph_.nodes.size(), 0);
    for (const Node& node : graph_.nodes)
      if (node.next_step)
        for (ValueId output : node.outputs)
          if (plan_.place[root(output)] < 0) place(root(output));
    for (int32_t i = 0; i < count; ++i)
      plan_.scratch_bytes[i] = aligned(scratch_bytes_(graph_, graph_.nodes[i]));
    const Lists ends(graph_.nodes.size() + 1, [&](const auto& add) {
      for (size_t value = 0; value < last_use_.size(); ++value)
        if (last_use_[value] >= 0) add(last_use_[value], static_cast<ValueId>(value));
    });
    const Lists scratch_ends(graph_.nodes.size() + 1, [&](const auto& add) {
      for (int32_t i = 0; i < count; ++i)
        if (plan_.scratch_bytes[i] > 0) add(done_at(i), i);
    });
    for (int32_t i = 0; i < count; ++i) {
      const Node& node = graph_.nodes[i];
      const bool makes = !graph::is_view(node) && !works_in_place(node);
      for (size_t j = 0; makes && j < node.outputs.size(); ++j) {
        if (node.outputs[j] == kNoValue) continue;
        const ValueId memory = root(node.outputs[j]);
        if (plan_.place[memory] >= 0) continue;
        plan_.from[memory] = i;
        const ValueId before = memory == node.outputs[j] ? replaced(i, j) : kNoValue;
        if (before != kNoValue) {
          plan_.place[memory] = plan_.place[before];
          plan_.until[before] = i - 1;
          given_[before] = true;
        } else {
          place(memory);
        }
      }
      if (const int64_t scratch = plan_.scratch_bytes[i]; scratch > 0) {
        plan_.scratch_place[i] = free_.take(scratch);
        live_ += scratch;
        plan_.live_bytes = std::max(plan_.live_bytes, live_);
      }
      for (int32_t node_done : scratch_ends[i]) {
        free_.give_back(plan_.scratch_place[node_done], plan_.scratch_bytes[node_done]);
        live_ -= plan_.scratch_bytes[node_done];
      }
      for (ValueId value : ends[i])
        if (plan_.place[value] >= 0 && !given_[value]) remove(value);
    }
    plan_.arena_bytes = free_.end();
    for (const auto& [part, offset] : parts_) plan_.place[part] = plan_.place[root(part)] + offset;
  }

  const Graph& graph_;
  const ScratchBytes& scratch_bytes_;
  MemoryPlan plan_;
  std::vector<std::pair<ValueId, int64_t>> parts_;  // what is joined, at which offset of its root
  std::vector<int32_t> waited_;                     // by a collective's first result: where
  std::vector<int32_t> last_use_;
  std::vector<bool> given_;  // by value: a result has taken its place
  FreeRanges free_;
  int64_t live_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const ScratchBytes& scratch_bytes, int64_t alignment) {
  return Planner(graph, scratch_bytes, alignment).run();
}

}  // namespace heddle::passes
