#include "engine/runtime/executor.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/passes/unroll.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/stage_groups.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"
#include "engine/transport/host_backend.h"

namespace heddle::runtime {

using graph::Node;

namespace {

// Whether a node changes a state once the gradients are there.
bool changes_state(const Node& node) {
  bool writes = false;
  graph::for_each_use(
      node, [&](const graph::Use& use) { writes = writes || use.written != graph::kNoValue; });
  return writes && node.phase == graph::Phase::optimizer;
}

// The same but for sums, which start at zero in each step.
bool updates(const Node& node) { return changes_state(node) && node.op->sum == graph::Sum::none; }

// LibTorch does not look at numbers of 8 bits.
bool is_finite(const at::Tensor& value) {
  const at::Tensor numbers = value.element_size() == 1 ? value.to(at::kFloat) : value;
  return numbers.isfinite().all().item<bool>();
}

// Whether two contiguous or strided tensors without gaps share memory.
bool overlap(const at::Tensor& a, const at::Tensor& b) {
  const auto* begin_a = static_cast<const std::byte*>(a.const_data_ptr());
  const auto* begin_b = static_cast<const std::byte*>(b.const_data_ptr());
  return begin_a < begin_b + b.nbytes() && begin_b < begin_a + a.nbytes();
}

}  // namespace

Executor::Executor(Program program, std::unique_ptr<DeviceRun> device)
    : program_(std::move(program)),
      device_(std::move(device)),
      sides_{HostSide(program_), HostSide(program_)},
      policy_(device_->records()),
      under_way_(program_.slots) {}

Executor::~Executor() {
  if (!device_) return;  // moved from
  // An error has ended the run, and was told, already.
  for (UnderWay& each : under_way_) try {
      if (each.work) each.work->wait();
    } catch (const std::exception&) {
    }
  try {
    device_->finish();
  } catch (const std::exception&) {
  }
}

Result<> Executor::register_memory(const Arena& states) {
  for (const Arena* arena : {&states, static_cast<const Arena*>(program_.arena.get())})
    if (auto done = device_->register_memory(arena->at(0), static_cast<size_t>(arena->bytes()));
        !done)
      return done;
  return {};
}

void Executor::feed(const std::vector<NamedTensors>& micro_batches, const NamedTensors& step_inputs,
                    const HostSide& side) {
  for (const auto& [name, target] : program_.inputs) {
    const auto [plain, number] = passes::micro_batch_input(name);
    const NamedTensors& batch = micro_batches.at(static_cast<size_t>(number));
    const auto found = batch.find(plain);
    at::Tensor(side.input(name))
        .copy_(found == batch.end() ? step_inputs.at(plain) : found->second);
  }
  side.send(program_);
}

const NamedTensors& Executor::run(const std::vector<NamedTensors>& micro_batches,
                                  const NamedTensors& step_inputs, Timeline* timeline) {
  wait_for(put_in_line(micro_batches, step_inputs, timeline, false));
  return program_.outputs;
}

void Executor::launch(const std::vector<NamedTensors>& micro_batches,
                      const NamedTensors& step_inputs, Timeline* timeline) {
  launched_.push_back(put_in_line(micro_batches, step_inputs, timeline, true));
}

const NamedTensors& Executor::finish() {
  const Launched step = launched_.front();
  launched_.pop_front();
  wait_for(step);
  return sides_.at(step.side).outputs();
}

Executor::Launched Executor::put_in_line(const std::vector<NamedTensors>& micro_batches,
                                         const NamedTensors& step_inputs, Timeline* timeline,
                                         bool fetches) {
  at::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  const bool timed = timeline != nullptr;
  const size_t at = std::exchange(side_, 1 - side_);
  HostSide& side = sides_.at(at);
  try {
    if (timed) memory_.clear();
    if (timed) device_->begin_times(program_.instructions.size());
    feed(micro_batches, step_inputs, side);
    if (std::exchange(anew_, false)) begin_anew(timed);
    const ReplayPolicy::How how = looking_ ? ReplayPolicy::How::run : policy_.next(timed);
    if (how == ReplayPolicy::How::run || (how == ReplayPolicy::How::record && !record(timed))) {
      run_instructions(timed);
      policy_.ran();
    } else {
      replay(timed);
    }
    if (fetches) side.fetch(program_);
    device_->mark(at);
  } catch (...) {
    device_->give_up();
    throw;
  }
  return {at, timeline};
}

void Executor::wait_for(const Launched& step) {
  try {
    device_->wait_for(step.side);
  } catch (...) {
    device_->give_up();
    throw;
  }
  if (step.timeline) add_spans(*step.timeline);
}

// Starts the work that the step before would have put under way for this one.
void Executor::begin_anew(bool timed) {
  const auto counted = std::pair(collectives_, collective_bytes_);
  for (size_t i = 0; i < program_.instructions.size(); ++i)
    if (program_.graph.nodes[program_.instructions[i].node].next_step) execute(i, timed);
  std::tie(collectives_, collective_bytes_) = counted;
}

void Executor::lend_arena() {
  join(false);
  anew_ = true;
}

void Executor::run_instructions(bool timed) {
  misplaced_bytes_ = 0;
  take_outside_bytes();
  collectives_ = collective_bytes_ = 0;
  bool updating = !before_update_;
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    if (!updating && changes_state(program_.graph.nodes[instruction.node])) {
      before_update_();
      updating = true;
    }
    if (looking_ && std::holds_alternative<Call>(instruction.what) &&
        updates(program_.graph.nodes[instruction.node]))
      continue;
    execute(i, timed);
    if (timed) sample_memory(i);
    if (looking_ && !std::holds_alternative<Start>(instruction.what))
      look_for_non_finite(instruction);
  }
  outside_bytes_ = take_outside_bytes();
}

// A recording has no collective under way at its ends: it waits for those that the step after
// needs.
bool Executor::record(bool timed) {
  join(false);
  const std::vector<UnderWay> before = under_way_;
  auto step = device_->record([this, timed] {
    run_instructions(timed);
    join(timed);
  });
  if (!step) {
    under_way_ = before;
    warnings_.push_back(policy_.failed(step.error().message));
    return false;
  }
  recorded_[timed] = std::move(*step);
  policy_.recorded(timed);
  return true;
}

void Executor::replay(bool timed) {
  join(false);
  if (timed) device_->begin_times(program_.instructions.size());  // a recording takes its time
  recorded_[timed]->launch();
}

void Executor::join(bool timed) {
  for (UnderWay& each : under_way_) {
    if (!each.work) continue;
    if (timed) device_->waits(each.instruction);
    each.work->wait();
    if (timed) device_->waited(each.instruction, *each.work);
    each = {nullptr, each.instruction, true};
  }
}

// Now and then: a sample takes as long as the smallest operators.
void Executor::sample_memory(size_t instruction) {
  constexpr size_t kMaxSamples = 250;
  if (instruction % (program_.instructions.size() / kMaxSamples + 1) == 0)
    memory_.push_back({program_.instructions[instruction].node, device_->bytes_in_use()});
}

void Executor::add_spans(Timeline& timeline) {
  // A replayed step has called nothing: its memory is as it was recorded.
  if (memory_.empty()) memory_.push_back({0, device_->bytes_in_use()});
  timeline.set_memory(std::exchange(memory_, {}));
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    if (std::holds_alternative<Wait>(instruction.what)) continue;
    const std::optional<Interval> interval = device_->interval(i);
    if (!interval) continue;
    const Node& node = program_.graph.nodes[instruction.node];
    const bool communicates = std::holds_alternative<Start>(instruction.what);
    const std::string name = node.op.text().substr(node.op.text().find('.') + 1);
    const auto phase = static_cast<uint8_t>(node.phase);
    const auto number = static_cast<int32_t>(instruction.node);
    timeline.add({name, node.module, interval->begin_us, interval->end_us - interval->begin_us,
                  communicates ? telemetry::kTransfer : telemetry::kCompute, phase, number});
    if (const std::optional<Interval> waited = device_->waiting(i))
      timeline.add(
          {name, node.module, waited->begin_us, waited->end_us - waited->begin_us,
           recipe::joins_stages(graph::group_of(node)) ? telemetry::kBubble : telemetry::kWait,
           phase, number});
  }
}

void Executor::execute(size_t index, bool timed) {
  Instruction& instruction = program_.instructions[index];
  const Node& node = program_.graph.nodes[instruction.node];
  if (auto* collective = std::get_if<Start>(&instruction.what)) {
    if (timed) device_->starting(index);
    return start(*collective, node, index);
  }
  if (auto* waits = std::get_if<Wait>(&instruction.what)) return wait(waits->slot, node, timed);
  if (timed) device_->before(index);
  call(std::get<Call>(instruction.what));
  if (timed) device_->after(index);
}

std::string Executor::first_non_finite(const std::vector<NamedTensors>& micro_batches,
                                       const NamedTensors& step_inputs) {
  looking_ = true;
  non_finite_.reset();
  run(micro_batches, step_inputs);
  looking_ = false;
  return non_finite_.value_or("");
}

// A value from another rank ends the search: it did not begin on this rank.
void Executor::look_for_non_finite(const Instruction& instruction) {
  if (non_finite_) return;
  const Node& node = program_.graph.nodes[instruction.node];
  for (graph::ValueId output : node.outputs) {
    if (output == graph::kNoValue) continue;
    const at::Tensor& value = program_.values[output];
    if (!value.is_floating_point() || is_finite(value)) continue;
    non_finite_ = graph::is_wait(node) ? ""
                                       : node.module.text() + " (" +
                                             node.op.text().substr(node.op.text().find('.') + 1) +
                                             ", " + graph::name_of(node.phase) + ")";
    return;
  }
}

void Executor::call(Call& call) {
  torch::jit::Stack stack = call.arguments;
  const Placing placing(call.placement);
  call.op.callBoxed(&stack);
  std::vector<Misplaced> misplaced;
  size_t in_list = 0;
  for (size_t i = 0; i < call.results.size(); ++i) {
    const at::Tensor& wanted = call.results[i];
    const c10::IValue& returned = stack[static_cast<size_t>(call.returns[i])];
    in_list = i > 0 && call.returns[i] == call.returns[i - 1] ? in_list + 1 : 0;
    if (!wanted.defined()) continue;
    at::Tensor made =
        returned.isTensor() ? returned.toTensor() : returned.toTensorList().get(in_list);
    if (made.data_ptr() != wanted.data_ptr() || made.strides() != wanted.strides())
      misplaced.push_back({i, std::move(made)});
  }
  if (!misplaced.empty()) put_in_place(call, placing.allocations(), misplaced);
}

// Copies results to where they belong, and learns which allocations they were, so that the next
// call makes them there.
void Executor::put_in_place(Call& call, const std::vector<Allocation> allocations,
                            std::vector<Misplaced>& misplaced) {
  std::vector<int16_t> order(allocations.size(), -1);
  // The newest one at an address: what lay there before it has been freed, and may be larger.
  auto learn = [&](const at::Tensor& made, size_t result) {
    for (size_t a = allocations.size(); a-- > 0;) {
      if (allocations[a].address != made.data_ptr()) continue;
      order[a] = static_cast<int16_t>(result);
      return;
    }
  };
  for (size_t i = 0; i < call.results.size(); ++i)
    if (call.results[i].defined()) learn(call.results[i], i);
  for (const auto& [result, made] : misplaced)
    for (int16_t& each : order)
      if (each == static_cast<int16_t>(result)) each = -1;
  for (auto& [result, made] : misplaced) {
    learn(made, result);
    misplaced_bytes_ += static_cast<int64_t>(made.nbytes());
  }
  // Where a copy would write over what another one has still to be made of.
  for (auto& each : misplaced)
    if (std::ranges::any_of(misplaced, [&](const Misplaced& other) {
          return overlap(each.made, call.results[other.result]);
        }))
      each.made = each.made.clone();
  for (const auto& [result, made] : misplaced) call.results[result].copy_(made);
  call.placement.order = std::move(order);
}

void Executor::start(const Start& start, const Node& node, size_t index) {
  for (const at::Tensor& tail : start.tails) tail.zero_();
  c10d::Backend& group = process_group(start.group);
  Tensors from = start.from, to = start.to;
  // The same on all ranks of the group: ranks of different stages call it differently.
  const bool transfers = graph::is_send(node) || graph::is_receive(node);
  const bool ends = start.group == recipe::kEndsGroup;
  const std::string what = transfers ? "transfer" : node.op.text();
  transport::label_next_collective(node.module.empty() || ends ? what
                                                               : what + " " + node.module.text());
  const Placing placing(start.placement);
  c10::intrusive_ptr<c10d::Work> work;
  switch (start.kind) {
    case graph::Role::all_gather:
      work = group.allgather_into_tensor_coalesced(to, from);
      break;
    case graph::Role::reduce_scatter:
      work = group.reduce_scatter_tensor_coalesced(to, from);
      break;
    case graph::Role::all_to_all:
      work = start_all_to_all(to.front(), from.front(), start.group);
      break;
    case graph::Role::shift:
      work = start_shift(to.front(), from.front(), start.group);
      break;
    case graph::Role::send:
      work = start_send(from.front(), start.group);
      break;
    case graph::Role::receive:
      work = start_receive(to.front(), start.group);
      break;
    case graph::Role::all_reduce:
      for (size_t i = 0; i < to.size(); ++i)
        if (!to[i].is_same(from[i])) to[i].copy_(from[i]);
      work = start_all_reduce(to, start.reduction, start.group);
      break;
    default:  // no collective
      break;
  }
  under_way_[start.slot] = {std::move(work), index, false};
  ++collectives_;
  collective_bytes_ += start.bytes;
}

void Executor::wait(size_t slot, const Node& node, bool timed) {
  const UnderWay each = std::exchange(under_way_[slot], {});
  if (each.joined) return;
  TORCH_CHECK(each.work, "nothing is under way for ", node.module);
  if (timed) device_->waits(each.instruction);
  each.work->wait();
  if (timed) device_->waited(each.instruction, *each.work);
}

}  // namespace heddle::runtime
