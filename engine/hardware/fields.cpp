#include "engine/hardware/fields.h"

namespace heddle::hardware {

const std::vector<NumberField<Device>>& numbers(const Device*) {
  static const std::vector<NumberField<Device>> all = {
      {"multiprocessors", &Device::multiprocessors, 1, 4096, "a count"},
      {"memory_gib", &Device::memory_gib, 0.25, 4096, "GiB"},
      {"memory_gb_per_s", &Device::memory_gb_per_s, 1, 1e5, "GB/s"},
      {"memory_reach", &Device::memory_reach, 0.05, 1, "a share"},
      {"bf16_peak_tflops", &Device::bf16_peak_tflops, 0.01, 1e5, "TFLOP/s"},
      {"bf16_best_tflops", &Device::bf16_best_tflops, 0.01, 1e5, "TFLOP/s"},
      {"sustained_share", &Device::sustained_share, 0.05, 1, "a share"},
      {"fp8_peak_tflops", &Device::fp8_peak_tflops, 0.01, 1e5, "TFLOP/s", false},
      {"fp8_best_tflops", &Device::fp8_best_tflops, 0.01, 1e5, "TFLOP/s", false},
      {"fp32_peak_tflops", &Device::fp32_peak_tflops, 0.01, 1e5, "TFLOP/s"},
      {"attention_forward_tflops", &Device::attention_forward_tflops, 0.01, 1e5, "TFLOP/s"},
      {"attention_backward_tflops", &Device::attention_backward_tflops, 0.01, 1e5, "TFLOP/s"},
      {"sdpa_forward_tflops", &Device::sdpa_forward_tflops, 0.01, 1e5, "TFLOP/s"},
      {"sdpa_backward_tflops", &Device::sdpa_backward_tflops, 0.01, 1e5, "TFLOP/s"},
      {"graph_launch_us", &Device::graph_launch_us, 0.01, 1000, "microseconds"},
      {"framework_launch_us", &Device::framework_launch_us, 0.01, 1000, "microseconds"},
      {"transfer_multiprocessors", &Device::transfer_multiprocessors, 0, 4096, "a count"},
      {"transfer_slowdown", &Device::transfer_slowdown, 0, 10, "a share"},
      {"context_gib", &Device::context_gib, 0, 64, "GiB"},
  };
  return all;
}

const std::vector<NumberField<Node>>& numbers(const Node*) {
  static const std::vector<NumberField<Node>> all = {
      {"link_gb_per_s", &Node::link_gb_per_s, 0.01, 1e5, "GB/s"},
      {"link_reach", &Node::link_reach, 0.05, 1, "a share"},
      {"buffers_gib", &Node::buffers_gib, 0, 64, "GiB"},
  };
  return all;
}

const std::vector<NumberField<Network>>& numbers(const Network*) {
  static const std::vector<NumberField<Network>> all = {
      {"gb_per_s", &Network::gb_per_s, 1e-3, 1e4, "GB/s"},
      {"reach", &Network::reach, 0.05, 1, "a share"},
  };
  return all;
}

const std::vector<ProtocolField<Device>>& by_protocol(const Device*) {
  static const std::vector<ProtocolField<Device>> none;
  return none;
}

const std::vector<ProtocolField<Node>>& by_protocol(const Node*) {
  static const std::vector<ProtocolField<Node>> all = {
      {"base_us", &Node::base_us, 0.01, 1e5, "microseconds"},
      {"step_us", &Node::step_us, 0.01, 1e5, "microseconds"},
  };
  return all;
}

const std::vector<ProtocolField<Network>>& by_protocol(const Network*) {
  static const std::vector<ProtocolField<Network>> all = {
      {"step_us", &Network::step_us, 0.01, 1e6, "microseconds"},
  };
  return all;
}

const std::vector<RatesField>& measured_rates() {
  static const std::vector<RatesField> all = {
      {"gather", &Node::gather},
      {"all_reduce", &Node::all_reduce},
      {"all_to_all", &Node::all_to_all},
  };
  return all;
}

}  // namespace heddle::hardware
