#include "engine/runtime/executor.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/graph/operators.h"
#include "engine/runtime/collectives.h"

namespace heddle::runtime {

using graph::Arg;
using graph::Node;
using graph::Phase;
using graph::Use;
using graph::ValueId;

Result<Executor> Executor::create(graph::Graph graph, const NamedTensors& states,
                                  c10::Device device) {
  Executor executor(std::move(graph), device);
  executor.values_.resize(executor.graph_.values.size());
  for (const graph::Binding& state : executor.graph_.states) {
    const auto found = states.find(state.name);
    if (found == states.end())
      return fail("the graph has a state \"{}\" that this run has not", state.name);
    const graph::Value& expected = executor.graph_.values[state.value];
    if (found->second.sizes() != at::IntArrayRef(expected.sizes) ||
        found->second.scalar_type() != expected.dtype)
      return fail(
          "state \"{}\" is [{}] in the graph and [{}] in this run: was the graph made for another "
          "recipe "
          "or number of ranks?",
          state.name, fmt::join(expected.sizes, ", "), fmt::join(found->second.sizes(), ", "));
    executor.values_[state.value] = found->second;
  }
  for (const graph::Binding& input : executor.graph_.inputs)
    executor.input_values_[input.name] = input.value;
  for (size_t i = 0; i < executor.graph_.nodes.size(); ++i) {
    const auto op = graph::find_operator(executor.graph_.nodes[i].op);
    if (!op) return fail("there is no operator \"{}\"", executor.graph_.nodes[i].op);
    executor.instructions_.push_back({*op, i, {}});
  }
  executor.find_last_reads();
  return executor;
}

void Executor::find_last_reads() {
  // States and inputs stay; so do outputs, and what the optimizer reads when forward and backward
  // repeat.
  std::vector<bool> stays(graph_.values.size(), false);
  for (const auto* bindings : {&graph_.states, &graph_.inputs, &graph_.outputs})
    for (const graph::Binding& binding : *bindings) stays[binding.value] = true;
  for (Instruction& instruction : instructions_) {
    for_each_use(graph_.nodes[instruction.node], [&](const Use& use) {
      if (use.written != graph::kNoValue && stays[use.value]) stays[use.written] = true;
    });
  }
  std::vector<bool> read(stays);
  for (auto instruction = instructions_.rbegin(); instruction != instructions_.rend();
       ++instruction) {
    const Node& node = graph_.nodes[instruction->node];
    auto dies_here = [&](ValueId value) {
      if (value == graph::kNoValue || read[value]) return;
      read[value] = true;
      instruction->dead_after.push_back(value);
    };
    for_each_use(node, [&](const Use& use) { dies_here(use.value); });
    for (ValueId output : node.outputs) dies_here(output);
  }
}

void Executor::feed(const NamedTensors& inputs) {
  for (const auto& [name, tensor] : inputs) {
    const auto input = input_values_.find(name);
    if (input != input_values_.end()) values_[input->second] = tensor;
  }
}

NamedTensors Executor::run(const std::vector<NamedTensors>& micro_batches,
                           const NamedTensors& step_inputs, Timeline* timeline) {
  at::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  feed(step_inputs);
  for (const NamedTensors& micro_batch : micro_batches) {
    feed(micro_batch);
    run_phase(false, timeline);
  }
  run_phase(true, timeline);
  NamedTensors outputs;
  for (const graph::Binding& output : graph_.outputs) outputs[output.name] = values_[output.value];
  return outputs;
}

void Executor::run_phase(bool optimizer, Timeline* timeline) {
  for (const Instruction& instruction : instructions_)
    if ((graph_.nodes[instruction.node].phase == Phase::optimizer) == optimizer)
      run_node(instruction, timeline);
}

c10::IValue Executor::argument(const Arg& arg) const {
  if (const auto* use = std::get_if<Use>(&arg))
    return use->value == graph::kNoValue ? c10::IValue() : c10::IValue(values_[use->value]);
  if (const auto* uses = std::get_if<std::vector<Use>>(&arg)) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(uses->size());
    for (const Use& use : *uses) tensors.push_back(values_[use.value]);
    return tensors;
  }
  if (const auto* scalar = std::get_if<graph::ScalarTensor>(&arg)) {
    at::Tensor tensor = at::scalar_tensor(scalar->value, at::TensorOptions(scalar->dtype));
    tensor.unsafeGetTensorImpl()->set_wrapped_number(scalar->wrapped_number);
    return tensor;
  }
  const auto& constant = std::get<c10::IValue>(arg);
  return constant.isDevice() ? c10::IValue(device_) : constant;
}

void Executor::run_node(const Instruction& instruction, Timeline* timeline) {
  const Node& node = graph_.nodes[instruction.node];
  torch::jit::Stack stack;
  stack.reserve(node.args.size());
  for (const Arg& arg : node.args) stack.push_back(argument(arg));

  const int64_t start = timeline ? timeline->now_us() : 0;
  std::shared_ptr<std::atomic<int64_t>> end_us;
  if (timeline && graph::is_collective(node)) {
    end_us = std::make_shared<std::atomic<int64_t>>(0);
    on_next_end([end_us, clock = timeline->clock()] { end_us->store(clock.now_us()); });
  }
  instruction.op.callBoxed(&stack);
  if (timeline) record_span(node, start, end_us, *timeline);

  for_each_use(node, [&](const Use& use) {
    if (use.written != graph::kNoValue) values_[use.written] = values_[use.value];
  });
  size_t output = 0;
  for (size_t i = 0; i < stack.size(); ++i) {
    const c10::IValue& result = stack[i];
    const c10::AliasInfo* alias = instruction.op.schema().returns()[i].alias_info();
    if (alias && alias->isWrite()) continue;  // the written argument again
    auto store = [&](const at::Tensor& tensor) {
      const ValueId value = node.outputs[output++];
      if (value != graph::kNoValue) values_[value] = tensor;
    };
    if (result.isTensor()) {
      store(result.toTensor());
    } else if (result.isTensorList()) {
      for (const at::Tensor& tensor : result.toTensorVector()) store(tensor);
    }
  }
  for (ValueId value : instruction.dead_after) values_[value] = at::Tensor();
}

void Executor::record_span(const Node& node, int64_t start,
                           const std::shared_ptr<std::atomic<int64_t>>& end_us,
                           Timeline& timeline) {
  telemetry::Span span{node.op.substr(node.op.find('.') + 1), node.module, start, 0, 0,
                       static_cast<uint8_t>(node.phase)};
  if (end_us) {
    span.stream = 1;
    under_way_[node.outputs.front()] = {span, end_us};
    return;
  }
  if (node.op == "heddle.wait") {  // idle time of the compute stream, the end of communication
    const auto found = under_way_.find(std::get<Use>(node.args.front()).value);
    if (found == under_way_.end()) return;
    auto& [communication, ended] = found->second;
    const int64_t end = ended->load() > 0 ? ended->load() : timeline.now_us();
    communication.duration_us = end - communication.start_us;
    timeline.add(std::move(communication));
    under_way_.erase(found);
    return;
  }
  span.duration_us = timeline.now_us() - start;
  timeline.add(std::move(span));
}

}  // namespace heddle::runtime
