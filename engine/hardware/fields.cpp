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

const std::vector<NumberField<Program>>& numbers(const Program*) {
  static const std::vector<NumberField<Program>> all = {
      {"product_share", &Program::product_share, 0.01, 2, "a share"},
      {"attention_share", &Program::attention_share, 0.01, 2, "a share"},
      {"ring_attention_share", &Program::ring_attention_share, 0.01, 1, "a share"},
      {"passes", &Program::passes, 0, 100, "a factor"},
      {"logit_bytes", &Program::logit_bytes, 0, 1000, "bytes"},
      {"layer_launch_ms", &Program::layer_launch_ms, 0, 1000, "milliseconds"},
      {"exchange_launch_ms", &Program::exchange_launch_ms, 0, 1000, "milliseconds"},
      {"stage_launch_ms", &Program::stage_launch_ms, 0, 1000, "milliseconds"},
      {"step_ms", &Program::step_ms, 0, 100000, "milliseconds"},
      {"update_bytes", &Program::update_bytes, 0, 10000, "bytes"},
      {"whole_update_bytes", &Program::whole_update_bytes, 0, 10000, "bytes"},
      {"exchange_share", &Program::exchange_share, 0, 10, "a share"},
      {"exchange_far_share", &Program::exchange_far_share, 0, 10, "a share"},
      {"exchange_us", &Program::exchange_us, 0, 100000, "microseconds"},
      {"gather_share", &Program::gather_share, 0, 10, "a share"},
      {"reduce_reach", &Program::reduce_reach, 0.001, 100, "a factor"},
      {"reduce_all_reach", &Program::reduce_all_reach, 0.001, 100, "a factor"},
      {"pipeline_reduce", &Program::pipeline_reduce, 0.1, 100, "a factor"},
      {"reduce_hidden", &Program::reduce_hidden, 0, 1, "a share"},
      {"hop_us", &Program::hop_us, 0, 1000000, "microseconds"},
      {"replicated_bytes", &Program::replicated_bytes, 2, 100, "bytes"},
      {"alone_bytes", &Program::alone_bytes, 2, 100, "bytes"},
      {"whole_bytes", &Program::whole_bytes, 0, 100, "bytes"},
      {"sharded_bytes", &Program::sharded_bytes, 0, 100, "bytes"},
      {"all_sharded_bytes", &Program::all_sharded_bytes, 2, 100, "bytes"},
      {"input_bytes", &Program::input_bytes, 0, 1000, "bytes"},
      {"hidden_bytes", &Program::hidden_bytes, 0, 1000, "bytes"},
      {"ffn_bytes", &Program::ffn_bytes, 0, 1000, "bytes"},
      {"embedding_bytes", &Program::embedding_bytes, 0, 1000, "bytes"},
      {"kept_share", &Program::kept_share, 0, 1, "a share"},
      {"logit_memory_bytes", &Program::logit_memory_bytes, 0, 1000, "bytes"},
      {"update_memory_bytes", &Program::update_memory_bytes, 0, 1000, "bytes"},
      {"process_gib", &Program::process_gib, 0, 64, "GiB"},
      {"outside_gib", &Program::outside_gib, 0, 64, "GiB"},
      {"live_share", &Program::live_share, 0.1, 2, "a share"},
      {"spread", &Program::spread, 0, 10, "a share"},
      {"spread_a_doubling", &Program::spread_a_doubling, 0, 10, "a share"},
      {"memory_spread", &Program::memory_spread, 0, 10, "a share"},
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

const std::vector<ProtocolField<Program>>& by_protocol(const Program*) {
  static const std::vector<ProtocolField<Program>> none;
  return none;
}

const std::vector<RatesField>& measured_rates() {
  static const std::vector<RatesField> all = {
      {"gather", &Node::gather},
      {"all_reduce", &Node::all_reduce},
      {"all_to_all", &Node::all_to_all},
  };
  return all;
}

namespace {

template <typename T>
bool set_in(T& entry, const std::string& key, double value) {
  for (const auto& field : numbers(&entry))
    if (key == field.key && value >= field.least && value <= field.most) {
      (entry.*field.member).value = value;
      return true;
    }
  for (const auto& field : by_protocol(&entry))
    if (key == field.key && value >= field.least && value <= field.most) {
      (entry.*field.member).value.fill(value);
      return true;
    }
  return false;
}

}  // namespace

bool set_number(Entry& entry, const std::string& key, double value) {
  const size_t dot = key.find('.');
  if (dot == std::string::npos) return false;
  const std::string kind = key.substr(0, dot), name = key.substr(dot + 1);
  if (kind == "device") return set_in(entry.device, name, value);
  if (kind == "node") return set_in(entry.node, name, value);
  return kind == "network" && set_in(entry.network, name, value);
}

bool set_number(Program& program, const std::string& key, double value) {
  return set_in(program, key, value);
}

}  // namespace heddle::hardware
