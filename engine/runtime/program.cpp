#include "engine/runtime/program.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include "engine/graph/error_text.h"
#include "engine/graph/operators.h"
#include "engine/passes/join.h"
#include "engine/passes/pipeline.h"
#include "engine/runtime/host_side.h"
#include "engine/runtime/races.h"

namespace heddle::runtime {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::Use;
using graph::ValueId;

class Lowering {
 public:
  Lowering(Program& program, c10::Device device) : program_(program), device_(device) {}

  Result<> run(const NamedTensors& states) {
    program_.values.resize(program_.graph.values.size());
    if (const auto bound = bind(states); !bound) return bound;
    place_roots();
    place_gathered();
    for (size_t i = 0; i < program_.graph.nodes.size(); ++i)
      if (const auto done = lower(static_cast<int32_t>(i)); !done) return done;
    if (const auto joined = join_waits(); !joined) return joined;
    for (const graph::Binding& output : program_.graph.outputs)
      program_.outputs[output.name] = value(output.value);
    return {};
  }

 private:
  at::Tensor& value(ValueId id) { return program_.values[id]; }
  const graph::Value& shape(ValueId id) const { return program_.graph.values[id]; }

  Result<> bind(const NamedTensors& states) {
    for (const graph::Binding& state : program_.graph.states) {
      const auto found = states.find(state.name);
      if (found == states.end())
        return fail("the graph has a state \"{}\" that this run has not", state.name);
      const graph::Value& expected = shape(state.value);
      if (found->second.sizes() != at::IntArrayRef(expected.sizes) ||
          found->second.scalar_type() != expected.dtype)
        return fail(
            "state \"{}\" is [{}] in the graph and [{}] in this run: was the graph made for "
            "another recipe or number of ranks?",
            state.name, fmt::join(expected.sizes, ", "), fmt::join(found->second.sizes(), ", "));
      value(state.value) = found->second;
    }
    make_inputs();
    return {};
  }

  void make_inputs() {
    const int64_t align = device_.is_cuda() ? passes::kGpuAlignment : passes::kHostAlignment;
    std::vector<int64_t> places;
    int64_t bytes = 0;
    for (const graph::Binding& input : program_.graph.inputs) {
      places.push_back(bytes);
      bytes += (shape(input.value).bytes() + align - 1) / align * align;
    }
    program_.input_bytes = at::zeros({bytes}, at::TensorOptions(at::kByte).device(device_));
    for (size_t i = 0; i < places.size(); ++i) {
      const graph::Binding& input = program_.graph.inputs[i];
      value(input.value) = part_of(program_.input_bytes, places[i], shape(input.value).sizes,
                                   shape(input.value).dtype);
      program_.inputs[input.name] = value(input.value);
    }
  }

  at::Tensor in_arena(int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides,
                      c10::ScalarType dtype) {
    const auto options = at::TensorOptions(dtype).device(device_);
    void* data = program_.arena->at(offset);
    return strides.empty() ? at::from_blob(data, sizes, options)
                           : at::from_blob(data, sizes, strides, options);
  }

  void place_roots() {
    const passes::MemoryPlan& memory = program_.memory;
    for (size_t i = 0; i < memory.place.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (memory.place[i] < 0) continue;
      value(id) = in_arena(memory.place[i], shape(id).sizes, shape(id).strides, shape(id).dtype);
    }
  }

  // Nodes before a next_step node read its result.
  void place_gathered() {
    for (const Node& node : program_.graph.nodes) {
      if (!graph::is_wait(node)) continue;
      const auto& pending = graph::list_of(node);
      for (size_t i = 0; i < pending.size(); ++i)
        if (value(pending[i].value).defined()) value(node.outputs[i]) = value(pending[i].value);
    }
  }

  Result<> lower(int32_t index) {
    const Node& node = program_.graph.nodes[index];
    const auto op = graph::find_operator(node.op);
    if (!op) return fail("there is no operator \"{}\"", node.op);
    if (graph::is_collective(node)) return start(index);
    if (graph::is_wait(node)) return wait(index);
    if (passes::is_join(node)) return {};  // its parts are made there
    graph::for_each_use(node, [&](const Use& use) {
      if (use.written != kNoValue) value(use.written) = value(use.value);
    });
    torch::jit::Stack arguments = graph::arguments_of(
        node, op->schema(), [&](ValueId id) { return value(id); }, device_);
    if (node.op->role == graph::Role::view) return view(node, *op, std::move(arguments));

    Call call{*op, std::move(arguments), {}, {}, {}};
    call.placement.alignment = static_cast<size_t>(program_.memory.alignment);
    call.placement.device = device_.type();
    const auto& returns = op->schema().returns();
    size_t output = 0;
    for (size_t i = 0; i < returns.size(); ++i) {
      const c10::AliasInfo* alias = returns[i].alias_info();
      if (alias && alias->isWrite()) continue;  // the written argument again
      const bool list = returns[i].type()->kind() == c10::TypeKind::ListType;
      const size_t count = list ? node.outputs.size() - output : 1;
      for (size_t j = 0; j < count; ++j, ++output) {
        const ValueId id = node.outputs[output];
        call.returns.push_back(static_cast<int>(i));
        call.results.push_back(id == kNoValue ? at::Tensor() : value(id));
        Placement::Slot slot{nullptr, 0};
        if (id != kNoValue)
          slot = {static_cast<std::byte*>(value(id).mutable_data_ptr()),
                  static_cast<size_t>(shape(id).bytes())};
        call.placement.results.push_back(slot);
      }
    }
    call.placement.scratch = scratch(index);
    program_.instructions.push_back({std::move(call), index});
    return {};
  }

  Placement::Slot scratch(int32_t index) {
    const passes::MemoryPlan& memory = program_.memory;
    return {program_.arena->at(memory.scratch_place[index]),
            static_cast<size_t>(memory.scratch_bytes[index])};
  }

  // A view is made once: its memory stays where it is.
  Result<> view(const Node& node, const c10::OperatorHandle& op, torch::jit::Stack arguments) {
    op.callBoxed(&arguments);
    size_t output = 0;
    for (const c10::IValue& result : arguments) {
      if (result.isTensor()) {
        value(node.outputs[output++]) = result.toTensor();
      } else {
        for (const at::Tensor& each : result.toTensorVector()) value(node.outputs[output++]) = each;
      }
    }
    return {};
  }

  // The tensor with the rows of all shards: its memory has room for them.
  Result<at::Tensor> padded(ValueId id, int64_t rows) {
    const at::Tensor& whole = value(id);
    if (whole.size(0) == rows && whole.is_contiguous()) return whole;
    const ValueId root = program_.memory.root[id];
    const int64_t place = program_.memory.place[root];
    if (place < 0 || !whole.is_contiguous() || whole.data_ptr() != program_.arena->at(place))
      return fail("a tensor of {} rows cannot be padded to {} in place", whole.size(0), rows);
    std::vector<int64_t> sizes = whole.sizes().vec();
    sizes[0] = rows;
    return in_arena(place, sizes, {}, whole.scalar_type());
  }

  Result<> start(int32_t index) {
    const Node& node = program_.graph.nodes[index];
    if (graph::is_receive(node)) return receive(index);
    const auto& uses = graph::list_of(node);
    const int64_t ranks = graph::ranks_of(program_.graph, node);
    Start start;
    start.group = graph::group_of(node);
    start.placement.scratch = scratch(index);
    start.placement.device = device_.type();
    start.slot = program_.slots++;
    slots_[node.outputs.front()] = start.slot;
    start.kind = node.op->role;
    if (start.kind == graph::Role::all_reduce)
      start.reduction =
          graph::is_exchange(node) ? "sum" : std::get<c10::IValue>(node.args[1]).toStringRef();
    for (size_t i = 0; i < uses.size(); ++i) {
      at::Tensor from = value(uses[i].value), to = value(node.outputs[i]);
      if (start.kind == graph::Role::all_gather) {
        auto whole = padded(node.outputs[i], from.size(0) * ranks);
        if (!whole) return fail(whole);
        value(node.outputs[i]) = whole->narrow(0, 0, shape(node.outputs[i]).sizes[0]);
        to = *whole;
      } else if (start.kind == graph::Role::reduce_scatter) {
        auto whole = padded(uses[i].value, to.size(0) * ranks);
        if (!whole) return fail(whole);
        if (whole->size(0) > from.size(0))
          start.tails.push_back(whole->narrow(0, from.size(0), whole->size(0) - from.size(0)));
        from = *whole;
      } else if (program_.memory.place[node.outputs[i]] < 0) {
        value(node.outputs[i]) = to = from;  // in place
      }
      start.bytes += std::max(from.nbytes(), to.nbytes());
      start.from.push_back(std::move(from));
      start.to.push_back(std::move(to));
    }
    program_.instructions.push_back({std::move(start), index});
    return {};
  }

  Result<> receive(int32_t index) {
    const Node& node = program_.graph.nodes[index];
    Start start;
    start.kind = graph::Role::receive;
    start.group = graph::group_of(node);
    start.slot = program_.slots++;
    slots_[node.outputs.front()] = start.slot;
    start.to.push_back(value(node.outputs.front()));
    start.bytes = static_cast<int64_t>(start.to.front().nbytes());
    program_.instructions.push_back({std::move(start), index});
    return {};
  }

  Result<> wait(int32_t index) {
    const Node& node = program_.graph.nodes[index];
    const auto& pending = graph::list_of(node);
    for (size_t i = 0; i < pending.size(); ++i) value(node.outputs[i]) = value(pending[i].value);
    // A next_step node starts in the step before: its slot is known once it is lowered.
    program_.instructions.push_back({Wait{}, index});
    waits_.emplace_back(program_.instructions.size() - 1, pending.front().value);
    return {};
  }

  Result<> join_waits() {
    for (const auto& [instruction, pending] : waits_) {
      const auto slot = slots_.find(pending);
      if (slot == slots_.end()) return fail("%{} is waited for and nothing makes it", pending);
      std::get<Wait>(program_.instructions[instruction].what).slot = slot->second;
    }
    return {};
  }

  Program& program_;
  c10::Device device_;
  std::map<ValueId, size_t> slots_;                // a collective's first result → slot
  std::vector<std::pair<size_t, ValueId>> waits_;  // instruction, what it waits for
};

}  // namespace

Result<Program> Program::create(graph::Graph graph, passes::MemoryPlan memory,
                                const NamedTensors& states, c10::Device device,
                                std::shared_ptr<Arena> arena) try {
  at::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (!arena) {
    auto own = Arena::create(memory.arena_bytes, device);
    if (!own) return fail(own);
    arena = std::make_shared<Arena>(std::move(*own));
  }
  if (arena->bytes() < memory.arena_bytes)
    return fail("an arena of {} bytes has no room for a plan of {}", arena->bytes(),
                memory.arena_bytes);
  Program program{std::move(graph), std::move(memory), std::move(arena), {}, {}, {}, {}, {}, 0};
  Lowering lowering(program, device);
  if (const auto done = lowering.run(states); !done) return fail(done);
  if (passes::verifies())
    for (const Stepping stepping : {Stepping::instructions, Stepping::recorded})
      if (const auto ordered = check_races(program, stepping); !ordered) return fail(ordered);
  return program;
} catch (const std::exception& error) {
  return fail("the step cannot be made ready: {}", graph::error_text(error));
}

}  // namespace heddle::runtime
