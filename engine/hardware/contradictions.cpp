#include "engine/hardware/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/hardware/fields.h"

namespace heddle::hardware {
namespace {

class Checks {
 public:
  // `smaller` must not be above `larger`.
  void ordered(const std::string& smaller, const Number& low, const std::string& larger,
               const Number& high) {
    if (low.known() && high.known() && low.value > high.value)
      found.push_back(
          {smaller,
           fmt::format("{:g} is more than {}, which is {:g}", low.value, larger, high.value),
           fmt::format("{:g} or less", high.value)});
  }
  void ascending(const char* key, const ByProtocol& steps) {
    // LL128 starts later than LL; Simple is not always the last: only the first one must be least.
    if (steps.known() && steps.value[0] > std::min(steps.value[1], steps.value[2]))
      found.push_back({key,
                       fmt::format("LL takes {:g}, longer than a protocol that it is quicker than",
                                   steps.value[0]),
                       "LL no longer than LL128 and Simple"});
  }

  std::vector<Contradiction> found;
};

template <typename T>
std::string key_of(Number T::*member) {
  const auto& fields = numbers(static_cast<const T*>(nullptr));
  return std::find_if(fields.begin(), fields.end(),
                      [&](const auto& field) { return field.member == member; })
      ->key;
}

}  // namespace

std::vector<Contradiction> contradictions(const Device& device) {
  Checks checks;
  using Member = Number Device::*;
  constexpr std::array<std::pair<Member, Member>, 10> kOrdered = {
      {{&Device::bf16_best_tflops, &Device::bf16_peak_tflops},
       {&Device::fp8_best_tflops, &Device::fp8_peak_tflops},
       {&Device::bf16_peak_tflops, &Device::fp8_peak_tflops},
       {&Device::attention_forward_tflops, &Device::bf16_peak_tflops},
       {&Device::attention_backward_tflops, &Device::bf16_peak_tflops},
       {&Device::sdpa_forward_tflops, &Device::bf16_peak_tflops},
       {&Device::sdpa_backward_tflops, &Device::bf16_peak_tflops},
       {&Device::graph_launch_us, &Device::framework_launch_us},
       {&Device::transfer_multiprocessors, &Device::multiprocessors},
       {&Device::context_gib, &Device::memory_gib}}};
  for (const auto& [smaller, larger] : kOrdered)
    checks.ordered(key_of(smaller), device.*smaller, key_of(larger), device.*larger);
  if (device.fp8_peak_tflops.known() != device.fp8_best_tflops.known())
    checks.found.push_back(
        {device.fp8_peak_tflops.known() ? "fp8_best_tflops" : "fp8_peak_tflops",
         fmt::format("is missing, and {} is there",
                     device.fp8_peak_tflops.known() ? "fp8_peak_tflops" : "fp8_best_tflops"),
         "both or neither"});
  return checks.found;
}

std::vector<Contradiction> contradictions(const Node& node) {
  Checks checks;
  checks.ascending("base_us", node.base_us);
  checks.ascending("step_us", node.step_us);
  if (node.part > 0 && node.devices % node.part != 0)
    checks.found.push_back(
        {"part", fmt::format("{} devices do not divide into parts of {}", node.devices, node.part),
         "a divisor of devices"});
  else if (node.part > 0 && node.nics % (node.devices / node.part) != 0)
    checks.found.push_back({"part",
                            fmt::format("{} network cards do not divide among {} parts", node.nics,
                                        node.devices / node.part),
                            "parts that have as many network cards each"});
  for (const RatesField& field : measured_rates()) {
    const std::vector<LinkRate>& rates = node.*field.member;
    for (size_t i = 0; i < rates.size(); ++i) {
      if (rates[i].ranks > node.devices)
        checks.found.push_back({field.key,
                                fmt::format("{} ranks are more than the node's {} devices",
                                            rates[i].ranks, node.devices),
                                fmt::format("2 to {} ranks", node.devices)});
      if (i > 0 && rates[i].ranks <= rates[i - 1].ranks)
        checks.found.push_back(
            {field.key, fmt::format("{} ranks come after {}", rates[i].ranks, rates[i - 1].ranks),
             "ascending, each number of ranks once"});
    }
  }
  return checks.found;
}

std::vector<Contradiction> contradictions(const Network& network) {
  Checks checks;
  checks.ascending("step_us", network.step_us);
  return checks.found;
}

std::vector<Contradiction> contradictions(const Program&) { return {}; }

std::vector<Contradiction> contradictions(const Node& node, const Device& device) {
  Checks checks;
  checks.ordered(key_of(&Node::link_gb_per_s), node.link_gb_per_s,
                 key_of(&Device::memory_gb_per_s) + " of " + device.name, device.memory_gb_per_s);
  return checks.found;
}

}  // namespace heddle::hardware
