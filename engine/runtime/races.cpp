#include "engine/runtime/races.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::runtime {
namespace {

constexpr int kSteps = 2;
constexpr size_t kCompute = 0;       // the stream of operators
constexpr int32_t kHost = -1;        // instead of a node: between two steps
using Clock = std::vector<int64_t>;  // by stream: how far it is known to have come

void join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

struct Range {
  const std::byte *begin, *end;
};

// The bytes of a tensor, in whatever order its dimensions are, without those between its rows.
void add_ranges(const at::Tensor& tensor, std::vector<Range>& ranges) {
  if (!tensor.defined() || tensor.numel() == 0) return;
  struct Dimension {
    int64_t stride, size;
  };
  std::vector<Dimension> outer;
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) > 0)
      outer.push_back({tensor.stride(d), tensor.size(d)});
  std::ranges::sort(outer, std::ranges::greater{}, &Dimension::stride);
  int64_t together = 1;  // elements that lie side by side
  while (!outer.empty() && outer.back().stride == together) {
    together *= outer.back().size;
    outer.pop_back();
  }
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  const auto item = static_cast<int64_t>(tensor.element_size());
  std::vector<int64_t> at(outer.size(), 0);
  for (;;) {
    int64_t offset = 0;
    for (size_t d = 0; d < outer.size(); ++d) offset += at[d] * outer[d].stride;
    ranges.push_back({data + offset * item, data + (offset + together) * item});
    size_t d = outer.size();
    while (d > 0 && ++at[d - 1] == outer[d - 1].size) at[--d] = 0;
    if (d == 0) return;
  }
}

// The last access to a piece of memory.
struct Access {
  size_t stream = 0;
  int64_t time = 0;  // of its stream's own clock; 0: nobody
  int32_t node = kHost;
};

// Everything that has been read and written, by address.
class Memory {
 public:
  struct Conflict {
    Access before;
    bool wrote = false;  // what came before
  };

  // An access that happens at `clock`. The first one before it that it is not ordered after.
  std::optional<Conflict> touch(const Range& range, const Access& access, const Clock& clock,
                                bool writes) {
    split(range.begin);
    split(range.end);
    const std::byte* covered = range.begin;
    auto cell = cells_.lower_bound(range.begin);
    std::optional<Conflict> conflict;
    while (covered < range.end) {
      if (cell == cells_.end() || cell->first > covered) {  // nobody was here yet
        const auto* end = cell == cells_.end() ? range.end : std::min(range.end, cell->first);
        cell = cells_.insert(cell, {covered, Cell{end, {}, {}}});
      }
      if (auto found = update(cell->second, access, clock, writes); found && !conflict)
        conflict = found;
      covered = cell->second.end;
      ++cell;
    }
    return conflict;
  }

 private:
  struct Cell {
    const std::byte* end;
    Access write;
    std::vector<Access> reads;  // since the write, the last of each stream
  };

  static std::optional<Conflict> update(Cell& cell, const Access& access, const Clock& clock,
                                        bool writes) {
    const auto comes_after = [&](const Access& before) {
      return clock[before.stream] >= before.time;
    };
    std::optional<Conflict> conflict;
    if (!comes_after(cell.write)) conflict = {cell.write, true};
    if (writes) {
      for (const Access& read : cell.reads)
        if (!comes_after(read) && !conflict) conflict = {read, false};
      cell.write = access;
      cell.reads.clear();
    } else {
      std::erase_if(cell.reads, [&](const Access& each) { return each.stream == access.stream; });
      cell.reads.push_back(access);
    }
    return conflict;
  }

  // A cell ends where another range begins or ends.
  void split(const std::byte* at) {
    auto next = cells_.upper_bound(at);
    if (next == cells_.begin()) return;
    auto& [begin, cell] = *std::prev(next);
    if (begin == at || cell.end <= at) return;
    Cell rest = cell;
    cell.end = at;
    cells_.insert(next, {at, std::move(rest)});
  }

  std::map<const std::byte*, Cell> cells_;
};

class Follower {
 public:
  explicit Follower(const Program& program) : program_(program), streams_{"operators"} {
    for (const Instruction& instruction : program.instructions)
      if (const auto* start = std::get_if<Start>(&instruction.what)) stream_of(start->group);
    clocks_.assign(streams_.size(), Clock(streams_.size(), 0));
    slots_.resize(program.slots);
  }

  Result<> run(Stepping stepping) {
    feed();
    for (const Instruction& instruction : program_.instructions)
      if (program_.graph.nodes[instruction.node].next_step) execute(instruction);
    for (int step = 0; step < kSteps && problem_.empty(); ++step) {
      if (step > 0) feed();
      if (stepping == Stepping::recorded && step > 0) join_all();
      for (const Instruction& instruction : program_.instructions) execute(instruction);
      if (stepping == Stepping::recorded && step > 0) join_all();
      read_by_host();
    }
    if (!problem_.empty()) return fail("{}", problem_);
    return {};
  }

 private:
  struct Slot {
    Clock done;           // when its collective has ended; empty: none is under way
    bool joined = false;  // waited for ahead of its Wait
  };

  size_t stream_of(const std::string& group) {
    const std::string name = "group " + group;
    const auto found = std::find(streams_.begin(), streams_.end(), name);
    if (found != streams_.end()) return static_cast<size_t>(found - streams_.begin());
    streams_.push_back(name);
    return streams_.size() - 1;
  }

  void execute(const Instruction& instruction) {
    if (!problem_.empty()) return;
    if (const auto* call = std::get_if<Call>(&instruction.what))
      return run_call(*call, instruction.node);
    if (const auto* start = std::get_if<Start>(&instruction.what))
      return run_start(*start, instruction.node);
    Slot& slot = slots_[std::get<Wait>(instruction.what).slot];
    if (slot.done.empty()) {
      problem_ = name_of(instruction.node) + " waits for a collective that is not under way";
      return;
    }
    if (!slot.joined) join(clocks_[kCompute], slot.done);
    slot = {};
  }

  void run_call(const Call& call, int32_t node) {
    std::vector<Range> reads, writes;
    const auto& schema = call.op.schema().arguments();
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const c10::AliasInfo* alias = schema[i].alias_info();
      auto& ranges = alias && alias->isWrite() ? writes : reads;
      const c10::IValue& argument = call.arguments[i];
      if (argument.isTensor()) {
        add_ranges(argument.toTensor(), ranges);
      } else if (argument.isTensorList()) {
        for (const at::Tensor& each : argument.toTensorVector()) add_ranges(each, ranges);
      } else if (argument.isList()) {  // of optional tensors
        for (const c10::IValue& each : argument.toListRef())
          if (each.isTensor()) add_ranges(each.toTensor(), ranges);
      }
    }
    for (const at::Tensor& result : call.results) add_ranges(result, writes);
    add_scratch(call.placement, writes);
    act(kCompute, node, reads, writes);
  }

  void run_start(const Start& start, int32_t node) {
    std::vector<Range> reads, writes;
    for (const at::Tensor& tail : start.tails) add_ranges(tail, writes);
    if (start.kind == graph::Role::all_reduce)
      for (size_t i = 0; i < start.to.size(); ++i)
        if (!start.to[i].is_same(start.from[i])) {
          add_ranges(start.from[i], reads);
          add_ranges(start.to[i], writes);
        }
    act(kCompute, node, reads, writes);

    const size_t stream = stream_of(start.group);
    join(clocks_[stream], clocks_[kCompute]);
    reads.clear();
    writes.clear();
    for (const at::Tensor& each : start.from) add_ranges(each, reads);
    for (const at::Tensor& each : start.to) add_ranges(each, writes);
    add_scratch(start.placement, writes);
    act(stream, node, reads, writes);
    Slot& slot = slots_[start.slot];
    if (!slot.done.empty() && problem_.empty())
      problem_ = name_of(node) + " starts while nobody has waited for it in the step before";
    slot = {clocks_[stream], false};
  }

  static void add_scratch(const Placement& placement, std::vector<Range>& writes) {
    if (placement.scratch.bytes > 0)
      writes.push_back(
          {placement.scratch.address, placement.scratch.address + placement.scratch.bytes});
  }

  void feed() {
    std::vector<Range> writes;
    for (const auto& [name, input] : program_.inputs) add_ranges(input, writes);
    act(kCompute, kHost, {}, writes);
  }

  // Results, and what checkpoints are written from.
  void read_by_host() {
    std::vector<Range> reads;
    for (const auto& [name, output] : program_.outputs) add_ranges(output, reads);
    for (const graph::Binding& state : program_.graph.states)
      add_ranges(program_.values[state.value], reads);
    act(kCompute, kHost, reads, {});
  }

  void join_all() {
    for (Slot& slot : slots_)
      if (!slot.done.empty()) {
        join(clocks_[kCompute], slot.done);
        slot.joined = true;
      }
  }

  void act(size_t stream, int32_t node, const std::vector<Range>& reads,
           const std::vector<Range>& writes) {
    if (!problem_.empty()) return;
    const Access access{stream, ++clocks_[stream][stream], node};
    const auto touch = [&](const std::vector<Range>& ranges, bool written) {
      for (const Range& range : ranges)
        if (const auto conflict = memory_.touch(range, access, clocks_[stream], written)) {
          problem_ = fmt::format("{} ({}) {} what {} ({}) {}, and nothing orders them",
                                 name_of(node), streams_[stream], written ? "writes" : "reads",
                                 name_of(conflict->before.node), streams_[conflict->before.stream],
                                 conflict->wrote ? "writes" : "reads");
          return false;
        }
      return true;
    };
    if (touch(reads, false)) touch(writes, true);
  }

  std::string name_of(int32_t node) const {
    if (node == kHost) return "the host between two steps";
    const graph::Node& each = program_.graph.nodes[node];
    return fmt::format("node {} {}{}{}", node, each.op, each.module.empty() ? "" : " ",
                       each.module.text());
  }

  const Program& program_;
  std::vector<std::string> streams_;
  std::vector<Clock> clocks_;  // by stream
  std::vector<Slot> slots_;
  Memory memory_;
  std::string problem_;
};

}  // namespace

Result<> check_races(const Program& program, Stepping stepping) {
  return Follower(program).run(stepping);
}

}  // namespace heddle::runtime
