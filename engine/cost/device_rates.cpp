#include "engine/cost/device_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/cost/prefixes.h"

namespace heddle::cost {
namespace {

struct Tile {
  int64_t m, n;
  double share;  // of the best rate
};
constexpr std::array kTiles = {Tile{256, 128, 1.0}, Tile{128, 256, 1.0}, Tile{128, 128, 0.92},
                               Tile{128, 64, 0.75}, Tile{64, 128, 0.75}, Tile{64, 64, 0.55},
                               Tile{64, 256, 0.88}};
constexpr int64_t kFill = 96;  // steps of k

double parts_of(int64_t size, int64_t part) {
  return std::ceil(static_cast<double>(size) / static_cast<double>(part));
}

// From one kernel's begin to the next one's.
double launched(const DeviceRates& rates, double kernel_seconds) {
  return std::max(kernel_seconds + rates.launch_seconds, rates.least_seconds);
}

}  // namespace

DeviceRates device_rates(const hardware::Device& device, Executor executor, Float8 float8) {
  DeviceRates rates;
  rates.executor = executor;
  rates.float8 = device.fp8_best_tflops.known() ? float8 : Float8::none;
  rates.multiprocessors = static_cast<int64_t>(device.multiprocessors.value);
  rates.bf16_flops = device.bf16_best_tflops.value * kTera;
  rates.fp8_flops = device.fp8_best_tflops.value * kTera;
  // No share of that peak is published: the one of bf16.
  rates.fp32_flops = device.fp32_peak_tflops.value * kTera * device.bf16_best_tflops.value /
                     device.bf16_peak_tflops.value;
  const bool heddle = executor == Executor::heddle;
  rates.attention_forward_flops =
      kTera * (heddle ? device.attention_forward_tflops : device.sdpa_forward_tflops).value;
  rates.attention_backward_flops =
      kTera * (heddle ? device.attention_backward_tflops : device.sdpa_backward_tflops).value;
  rates.sustained_share = device.sustained_share.value;
  rates.bytes_per_second = device.memory_gb_per_s.value * 1e9 * device.memory_reach.value;
  rates.launch_seconds = device.graph_launch_us.value * kMicro;
  rates.least_seconds = heddle ? 0.0 : device.framework_launch_us.value * kMicro;
  return rates;
}

double product_seconds(const DeviceRates& rates, int64_t m, int64_t k, int64_t n, double flops,
                       double operand_bytes, double result_bytes) {
  const auto processors = static_cast<double>(rates.multiprocessors);
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles)
    for (const int64_t parts : {1, 2, 4, 8}) {
      const double tiles = parts_of(m, tile.m) * parts_of(n, tile.n) * static_cast<double>(parts);
      const double deep = parts_of(k, parts) + kFill;
      const double per_tile =
          2.0 * static_cast<double>(tile.m * tile.n) * deep * processors / (flops * tile.share);
      best = std::min(best, std::ceil(tiles / processors) * per_tile);
    }
  const double bytes = static_cast<double>(m * k + k * n) * operand_bytes +
                       static_cast<double>(m * n) * result_bytes;
  return std::max(best, bytes / rates.bytes_per_second);
}

double product_seconds(const DeviceRates& rates, int64_t m, int64_t k, int64_t n, bool full,
                       bool eight_bits) {
  const double kept = rates.sustained_share;
  if (full) return launched(rates, product_seconds(rates, m, k, n, kept * rates.fp32_flops, 4, 4));
  const double bf16 =
      launched(rates, product_seconds(rates, m, k, n, kept * rates.bf16_flops, 2, 2));
  if (!eight_bits || rates.float8 == Float8::none) return bf16;
  // Scales by row are applied while the product runs.
  const double flops = kept * rates.fp8_flops * (rates.float8 == Float8::rowwise ? 0.9 : 1.0);
  return launched(rates, product_seconds(rates, m, k, n, flops, 1, 2));
}

double bytes_seconds(const DeviceRates& rates, double bytes, const graph::Unfused& unfused) {
  const auto [times, kernels] =
      rates.executor == Executor::eager ? unfused : graph::Unfused{.bytes = 1, .kernels = 1};
  return kernels * launched(rates, bytes * times / kernels / rates.bytes_per_second);
}

double attention_seconds(const DeviceRates& rates, double flops, bool backward) {
  return launched(rates,
                  flops / rates.sustained_share /
                      (backward ? rates.attention_backward_flops : rates.attention_forward_flops));
}

double bucket_copy_seconds(const DeviceRates& rates, double whole_bytes) {
  if (rates.executor == Executor::heddle) return 0.0;
  return launched(rates, 2 * whole_bytes / rates.bytes_per_second);
}

nlohmann::json to_json(const DeviceRates& rates) {
  return {{"executor", rates.executor},
          {"float8", rates.float8},
          {"multiprocessors", rates.multiprocessors},
          {"bf16_flops", rates.bf16_flops},
          {"fp8_flops", rates.fp8_flops},
          {"fp32_flops", rates.fp32_flops},
          {"attention_forward_flops", rates.attention_forward_flops},
          {"attention_backward_flops", rates.attention_backward_flops},
          {"sustained_share", rates.sustained_share},
          {"bytes_per_second", rates.bytes_per_second},
          {"launch_seconds", rates.launch_seconds},
          {"least_seconds", rates.least_seconds}};
}

DeviceRates device_rates_from_json(const nlohmann::json& read) {
  return {read.at("executor"),
          read.at("float8"),
          read.at("multiprocessors"),
          read.at("bf16_flops"),
          read.at("fp8_flops"),
          read.at("fp32_flops"),
          read.at("attention_forward_flops"),
          read.at("attention_backward_flops"),
          read.at("sustained_share"),
          read.at("bytes_per_second"),
          read.at("launch_seconds"),
          read.at("least_seconds")};
}

}  // namespace heddle::cost
