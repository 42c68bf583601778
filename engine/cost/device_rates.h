// How fast a device of the catalogue runs kernels; numbers in, seconds out, no graph.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "engine/cost/executor.h"
#include "engine/graph/traits.h"
#include "engine/hardware/entry.h"

namespace heddle::cost {

/// How matrix products of bf16 are done in 8 bits (TorchTitan's recipes).
enum class Float8 { none, tensorwise, rowwise };

/// FLOP and bytes a second, and seconds.
struct DeviceRates {
  Executor executor = Executor::heddle;
  Float8 float8 = Float8::none;
  int64_t multiprocessors = 1;
  double bf16_flops = 0, fp8_flops = 0, fp32_flops = 0;  // of the best product
  double attention_forward_flops = 0, attention_backward_flops = 0;
  double sustained_share = 1;   // of all these that long training keeps
  double bytes_per_second = 0;  // that kernels of one pass reach
  double launch_seconds = 0;    // of a kernel of a graph, on top of what it does
  double least_seconds = 0;     // from one kernel's launch to the next one's
};

DeviceRates device_rates(const hardware::Device& device, Executor executor, Float8 float8);

/// One matrix product of m × k and k × n with operands of `operand_bytes` an element and a result
/// of 2 or 4, at `flops` at best.
///
/// A multiprocessor makes a tile of the result at a time; a wave is one tile on each of them, and
/// the last wave takes as long as a full one:
///
///     waves · 2 · tile_m · tile_n · (k / parts + 96) · multiprocessors / (flops · share)
///
/// least over the tiles that libraries have, `share` of the best rate being what a smaller tile
/// reaches (it reads its operands more often), and over 1, 2, 4 and 8 parts of k summed up in the
/// end. 96: the steps of k that it takes until the first operands are there and the result is
/// written. Never faster than memory gives operands and takes the result.
double product_seconds(const DeviceRates& rates, int64_t m, int64_t k, int64_t n, double flops,
                       double operand_bytes, double result_bytes);

/// A product among many, as the executor does it; of operands in 8 bits where `eight_bits`.
double product_seconds(const DeviceRates& rates, int64_t m, int64_t k, int64_t n, bool full,
                       bool eight_bits);

/// One of Heddle's operators that memory limits; `unfused`: what it is to PyTorch.
double bytes_seconds(const DeviceRates& rates, double bytes, const graph::Unfused& unfused);

/// Attention, by the FLOPs of what is seen.
double attention_seconds(const DeviceRates& rates, double flops, bool backward);

/// FSDP2 copies each bucket apart after its gather, and together before its scatter, on the stream
/// that computes. 0 for Heddle, whose buckets are gathered in place.
double bucket_copy_seconds(const DeviceRates& rates, double whole_bytes);

nlohmann::json to_json(const DeviceRates& rates);
/// Throws nlohmann::json::exception.
DeviceRates device_rates_from_json(const nlohmann::json& json);

}  // namespace heddle::cost
