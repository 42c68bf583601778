#include "engine/graph/text.h"

#include <array>
#include <utility>

#include "engine/graph/operators.h"

namespace heddle::graph {
namespace {

constexpr std::array<std::pair<c10::ScalarType, const char*>, 11> kDtypes = {{
    {c10::kFloat, "f32"},
    {c10::kDouble, "f64"},
    {c10::kBFloat16, "bf16"},
    {c10::kHalf, "f16"},
    {c10::kFloat8_e4m3fn, "e4m3"},
    {c10::kFloat8_e5m2, "e5m2"},
    {c10::kLong, "i64"},
    {c10::kInt, "i32"},
    {c10::kByte, "u8"},
    {c10::kChar, "i8"},
    {c10::kBool, "bool"},
}};

std::string use_text(const Use& use) {
  if (use.value == kNoValue) return "none";
  if (use.written == kNoValue) return fmt::format("%{}", use.value);
  return fmt::format("%{} -> %{}", use.value, use.written);
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string scalar_text(const at::Tensor& tensor) {
  const at::Scalar scalar = tensor.item();
  const std::string number = scalar.isFloatingPoint() ? number_text(scalar.toDouble())
                                                      : fmt::format("{}", scalar.toLong());
  return fmt::format("scalar({} {}{})", number, dtype_name(tensor.scalar_type()),
                     tensor.unsafeGetTensorImpl()->is_wrapped_number() ? "" : " typed");
}

// Enumerations travel as integers in an IValue; the schema's type says what they mean.
std::string constant_text(const c10::IValue& value, const c10::TypePtr& type) {
  if (value.isNone()) return "none";
  if (const auto optional = type->cast<c10::OptionalType>())
    return constant_text(value, optional->getElementType());
  if (value.isInt() && type->kind() == c10::TypeKind::ScalarTypeType)
    return dtype_name(static_cast<c10::ScalarType>(value.toInt()));
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isInt()) return fmt::format("{}", value.toInt());
  if (value.isDouble()) return number_text(value.toDouble());
  if (value.isString()) return fmt::format("\"{}\"", value.toStringRef());
  if (value.isIntList()) return fmt::format("[{}]", fmt::join(value.toIntVector(), ", "));
  if (value.isDoubleList()) {
    std::string list;
    for (double each : value.toDoubleVector())
      list += (list.empty() ? "" : ", ") + number_text(each);
    return "[" + list + "]";
  }
  if (value.isDevice()) return "device";
  TORCH_CHECK(false, "a ", value.tagKind(), " argument has no text form");
}

std::string arg_text(const Arg& arg, const c10::Argument& declared) {
  if (const auto* use = std::get_if<Use>(&arg)) return use_text(*use);
  if (const auto* uses = std::get_if<Uses>(&arg)) {
    std::string list;
    for (const Use& use : *uses) list += (list.empty() ? "" : ", ") + use_text(use);
    return "[" + list + "]";
  }
  const auto& constant = std::get<c10::IValue>(arg);
  return constant.isTensor() ? scalar_text(constant.toTensor())
                             : constant_text(constant, declared.type());
}

std::string node_text(const Graph& graph, const Node& node) {
  std::string line = "  ";
  const auto op = find_operator(node.op);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i > 0) line += ", ";
    const ValueId output = node.outputs[i];
    if (output == kNoValue) {
      line += "none";
      continue;
    }
    line += fmt::format("%{}: {}", output, type_text(graph.values[output]));
  }
  if (!node.outputs.empty()) line += " = ";
  line += node.op.text() + "(";
  bool first = true;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const c10::Argument& declared = op->schema().arguments()[i];
    const bool constant = std::holds_alternative<c10::IValue>(node.args[i]);
    if (constant && is_default(node.args[i], declared)) continue;
    line += std::exchange(first, false) ? "" : ", ";
    if (!takes_tensors(declared)) line += declared.name() + "=";
    line += arg_text(node.args[i], declared);
  }
  line += ")";
  if (!node.module.empty()) line += "  @" + node.module.text();
  if (node.stage > 0) line += fmt::format("  stage {}", node.stage);
  if (node.weights_only) line += "  weights_only";
  if (node.micro_batch > 0) line += fmt::format("  micro_batch {}", node.micro_batch);
  if (node.next_step) line += "  next_step";
  return line;
}

}  // namespace

const char* dtype_name(c10::ScalarType dtype) {
  for (const auto& [type, name] : kDtypes)
    if (type == dtype) return name;
  return c10::toString(dtype);
}

std::optional<c10::ScalarType> dtype_of(std::string_view name) {
  for (const auto& [type, known] : kDtypes)
    if (name == known) return type;
  return std::nullopt;
}

std::string type_text(const Value& value) {
  return fmt::format("{}[{}]", dtype_name(value.dtype), fmt::join(value.sizes, ", "));
}

std::string to_text(const Graph& graph) {
  std::string text = "heddle graph 1\n";
  for (const auto& [key, value] : graph.notes) text += fmt::format("note {} = {}\n", key, value);
  for (const auto& [name, ranks] : graph.groups)
    text += fmt::format("group {} = {}\n", name, ranks);
  text += fmt::format("micro_batches = {}\n", graph.micro_batches);
  auto bindings = [&](const char* kind, const std::vector<Binding>& list) {
    for (const Binding& binding : list)
      text += fmt::format("{} %{}: {} {}\n", kind, binding.value,
                          type_text(graph.values[binding.value]), binding.name);
  };
  bindings("input", graph.inputs);
  bindings("state", graph.states);
  std::optional<Phase> phase;
  for (const Node& node : graph.nodes) {
    if (phase != node.phase) text += fmt::format("{}\n", name_of(node.phase));
    phase = node.phase;
    text += node_text(graph, node) + "\n";
  }
  bindings("output", graph.outputs);
  return text + "end\n";
}

}  // namespace heddle::graph
