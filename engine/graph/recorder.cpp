#include "engine/graph/recorder.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>

#include "engine/graph/cleanup.h"
#include "engine/graph/operators.h"
#include "engine/graph/trace_device.h"

namespace heddle::graph {
namespace {

Recorder* current_recorder = nullptr;

// "aten::mm" + "" is aten.mm; "aten::add" + "Tensor" is aten.add.Tensor.
std::string node_name(const c10::OperatorName& name) {
  std::string text = name.name;
  if (size_t colons = text.find("::"); colons != std::string::npos) text.replace(colons, 2, ".");
  if (!name.overload_name.empty()) text += "." + name.overload_name;
  return text;
}

}  // namespace

Recorder::Recorder() {
  register_trace_device();
  TORCH_CHECK(current_recorder == nullptr, "a capture is already in progress");
  current_recorder = this;
}

Recorder::~Recorder() { current_recorder = nullptr; }

Recorder* Recorder::current() { return current_recorder; }

at::Tensor Recorder::wrap(at::Tensor meta) {
  const ValueId value = graph_.add_value(meta.sizes(), meta.scalar_type());
  if (!meta.is_contiguous()) graph_.values[value].strides = meta.strides();
  return at::detail::make_tensor<TraceTensorImpl>(std::move(meta), value);
}

at::Tensor Recorder::bind(std::vector<Binding>& bindings, const std::string& name,
                          at::IntArrayRef sizes, c10::ScalarType dtype) {
  std::lock_guard lock(mutex_);
  at::Tensor tensor = wrap(at::empty(sizes, at::TensorOptions(dtype).device(c10::kMeta)));
  bindings.push_back({name, trace_tensor(tensor)->value()});
  return tensor;
}

at::Tensor Recorder::input(const std::string& name, at::IntArrayRef sizes, c10::ScalarType dtype) {
  return bind(graph_.inputs, name, sizes, dtype);
}

at::Tensor Recorder::state(const std::string& name, at::IntArrayRef sizes, c10::ScalarType dtype) {
  return bind(graph_.states, name, sizes, dtype);
}

void Recorder::output(const std::string& name, const at::Tensor& tensor) {
  TraceTensorImpl* traced = trace_tensor(tensor);
  TORCH_CHECK(traced, "output ", name, " is not a tensor of the captured step");
  std::lock_guard lock(mutex_);
  graph_.outputs.push_back({name, traced->value()});
}

void Recorder::set_phase(Phase phase) {
  std::lock_guard lock(mutex_);
  phase_ = phase;
}

std::string Recorder::exchange_module(std::string module) {
  std::lock_guard lock(mutex_);
  std::swap(module_, module);
  modules_by_sequence_.emplace_back(at::sequence_number::peek(), module_);
  return module;
}

std::string Recorder::current_module() const {
  const auto node = torch::autograd::get_current_node();
  if (!node) return module_;
  auto after = std::upper_bound(
      modules_by_sequence_.begin(), modules_by_sequence_.end(), node->sequence_nr(),
      [](uint64_t number, const auto& entry) { return number < entry.first; });
  return after == modules_by_sequence_.begin() ? std::string() : std::prev(after)->second;
}

Arg Recorder::to_arg(const c10::IValue& value, const c10::Argument& declared, c10::IValue& meta) {
  auto use_of = [&](const at::Tensor& tensor) -> Use {
    if (!tensor.defined()) return {};
    TraceTensorImpl* traced = trace_tensor(tensor);
    TORCH_CHECK(traced, "a constant tensor of ", tensor.sizes(),
                " cannot become part of the captured step: make it an input or a state");
    return {traced->value(), kNoValue};
  };
  auto meta_of = [](const at::Tensor& tensor) {
    return tensor.defined() ? trace_tensor(tensor)->meta() : tensor;
  };

  meta = value;
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (tensor.defined() && !trace_tensor(tensor) && tensor.dim() == 0) return value;
    const Use use = use_of(tensor);
    meta = meta_of(tensor);
    return use;
  }
  if (value.isTensorList()) {
    Uses uses;
    std::vector<at::Tensor> metas;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      uses.push_back(use_of(tensor));
      metas.push_back(meta_of(tensor));
    }
    meta = metas;
    return uses;
  }
  if (value.isOptionalTensorList()) {
    Uses uses;
    c10::List<std::optional<at::Tensor>> metas;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      uses.push_back(tensor ? use_of(*tensor) : Use{});
      metas.push_back(tensor ? std::optional(meta_of(*tensor)) : std::nullopt);
    }
    meta = metas;
    return uses;
  }
  const bool is_tensor_type = declared.type()->isSubtypeOf(*c10::OptionalType::ofTensor());
  if (value.isNone() && is_tensor_type) return Use{};
  if (value.isDevice()) meta = c10::Device(c10::kMeta);
  return value;
}

void Recorder::record(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  std::lock_guard lock(mutex_);
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(count);

  Node node;
  node.op = node_name(op.operator_name());
  TORCH_CHECK(
      node.op.has_entry(), node.op,
      " is not in the table of operators (engine/graph/traits.h), so that no pass knows what "
      "it does");
  node.phase = phase_;
  node.module = current_module();
  std::vector<Arg> args;
  torch::jit::Stack metas(count);
  for (size_t i = 0; i < count; ++i)
    args.push_back(to_arg(*(first + i), schema.arguments()[i], metas[i]));

  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    op.callBoxed(&metas);
  }

  // Written arguments keep their tensor and take a new value.
  auto write = [&](const at::Tensor& target) {
    TraceTensorImpl* traced = trace_tensor(target);
    TORCH_CHECK(!traced->is_view(), node.op, " writes through a view, which is not captured");
    traced->set_value(graph_.add_value(target.sizes(), target.scalar_type()));
    return traced->value();
  };
  std::map<std::string, at::Tensor> written;  // by alias set
  for (size_t i = 0; i < count; ++i) {
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    if (!alias || !alias->isWrite()) continue;
    if ((first + i)->isTensorList()) {
      auto& uses = std::get<Uses>(args[i]);
      const std::vector<at::Tensor> targets = (first + i)->toTensorVector();
      for (size_t j = 0; j < targets.size(); ++j) uses[j].written = write(targets[j]);
      continue;
    }
    const at::Tensor target = (first + i)->toTensor();
    std::get<Use>(args[i]).written = write(target);
    for (const auto& set : alias->beforeSets()) written[set.toUnqualString()] = target;
  }

  torch::jit::Stack results;
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    const c10::AliasInfo* alias = schema.returns()[i].alias_info();
    if (alias && alias->isWrite()) {
      results.emplace_back(written.at(alias->beforeSets().begin()->toUnqualString()));
      continue;
    }
    auto wrap_result = [&](const at::Tensor& meta) {
      if (!meta.defined()) {
        node.outputs.push_back(kNoValue);
        return meta;
      }
      at::Tensor result = wrap(meta);
      if (alias) trace_tensor(result)->set_is_view();
      node.outputs.push_back(trace_tensor(result)->value());
      return result;
    };
    if (metas[i].isTensor()) {
      results.emplace_back(wrap_result(metas[i].toTensor()));
    } else if (metas[i].isTensorList()) {
      std::vector<at::Tensor> wrapped;
      for (const at::Tensor& meta : metas[i].toTensorVector()) wrapped.push_back(wrap_result(meta));
      results.emplace_back(wrapped);
    } else {
      TORCH_CHECK(false, node.op, " returns what is not a tensor, which is not captured");
    }
  }
  torch::jit::drop(*stack, count);
  node.args = without_defaults(schema, std::move(args));
  for (c10::IValue& result : results) stack->push_back(std::move(result));
  graph_.nodes.push_back(std::move(node));
}

Graph Recorder::finish() {
  std::lock_guard lock(mutex_);
  name_gradient_sums(graph_);
  remove_unread_nodes(graph_);
  return std::move(graph_);
}

ModuleScope::ModuleScope(const std::string& name) {
  Recorder* recorder = Recorder::current();
  if (!recorder) return;
  before_ = recorder->exchange_module({});
  recorder->exchange_module(before_.empty() ? name : before_ + "." + name);
}

ModuleScope::~ModuleScope() {
  if (Recorder* recorder = Recorder::current()) recorder->exchange_module(before_);
}

}  // namespace heddle::graph
