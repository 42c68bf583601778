#include "engine/runtime/host_side.h"

#include "engine/runtime/device.h"

namespace heddle::runtime {
namespace {

// Tensors like these, side by side in the host's memory.
NamedTensors beside(const NamedTensors& tensors, c10::Device device) {
  constexpr int64_t kAlign = 8;
  std::map<std::string, int64_t> places;
  int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    places[name] = bytes;
    bytes += (static_cast<int64_t>(tensor.nbytes()) + kAlign - 1) / kAlign * kAlign;
  }
  const at::Tensor all = allocate_beside(device, bytes);
  NamedTensors made;
  for (const auto& [name, tensor] : tensors)
    made[name] = part_of(all, places.at(name), tensor.sizes(), tensor.scalar_type());
  return made;
}

}  // namespace

at::Tensor part_of(const at::Tensor& bytes, int64_t at, at::IntArrayRef sizes,
                   c10::ScalarType type) {
  const auto size = static_cast<int64_t>(c10::elementSize(type));
  return bytes.narrow(0, at, c10::multiply_integers(sizes) * size).view(type).view(sizes);
}

HostSide::HostSide(const Program& program)
    : input_bytes_(program.input_bytes), inputs_(program.inputs) {
  if (program.input_bytes.is_cpu()) return;
  input_bytes_ = allocate_beside(program.input_bytes.device(), program.input_bytes.numel());
  for (auto& [name, input] : inputs_)
    input = part_of(input_bytes_, input.storage_offset() * input.element_size(), input.sizes(),
                    input.scalar_type());
}

void HostSide::send(const Program& program) const {
  if (!input_bytes_.is_same(program.input_bytes))
    at::Tensor(program.input_bytes).copy_(input_bytes_, true);
}

void HostSide::fetch(const Program& program) {
  if (program.input_bytes.is_cpu()) {
    outputs_ = program.outputs;
    return;
  }
  if (outputs_.empty()) outputs_ = beside(program.outputs, program.input_bytes.device());
  for (auto& [name, output] : outputs_) output.copy_(program.outputs.at(name), true);
}

}  // namespace heddle::runtime
