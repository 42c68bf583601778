// A machine's measurements, and the file that keeps them. No LibTorch here.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cost/machine_speed.h"

namespace heddle::cost {

/// Seconds of a collective by the bytes of its whole tensors (all ranks' shards), ascending.
struct CurvePoint {
  int64_t bytes = 0;
  double seconds = 0;
};
using Curve = std::vector<CurvePoint>;

/// Seconds at a size: on straight lines between the points; behind the last one at its rate.
double at_bytes(const Curve& curve, int64_t bytes);

/// A kind of collective while compute is idle; while compute runs, which then is the longer
/// by what it lost (arXiv 2504.03662: overlapping slows both).
struct CollectiveTimes {
  Curve alone, beside_compute, lost;
};

/// The wire that a transfer uses. Transfers over one wire come one after the other; over two they
/// move at the same time: GPUs reach GPUs of their node without its network.
enum class Wire : uint8_t { node, network };
inline constexpr size_t kWires = 2;

/// How a group's collectives travel and how long they take.
struct Link {
  std::string transport;  // "memory", "memory + tcp", "tcp", "nccl"
  int64_t ranks = 0;
  CollectiveTimes all_gather = {}, reduce_scatter = {};  // of buckets, with what copies they need
  bool estimated = false;                                // by formula, not measured
  /// Ranks on CPUs have one wire: their cores move everything.
  Wire wire = Wire::node;
  /// Where they differ from what the two make: gathers and scatters of activations, sums,
  /// all-to-all exchanges, and what one rank sends to another. Empty: a gather, a scatter, or both.
  CollectiveTimes activations = {}, all_reduce = {}, all_to_all = {}, to_neighbour = {};
};

/// The operator whose rate is used for all that only move bytes and were not measured.
inline constexpr const char* kMovesBytes = "aten.add.Tensor";

/// The speed of an operator for operands of about this shape.
struct OperatorRate {
  std::string op;                     // "aten.mm"
  std::string dtype;                  // "f32", "bf16": of what it reads
  std::array<int64_t, 3> shape = {};  // mm: m, k, n; attention: B·H, S, D; others: zeros
  double per_second = 0;              // FLOP where its traits count them, else bytes
};

/// Measurements with so many ranks on one host, all of them busy.
struct Calibration {
  std::string host;
  int64_t ranks = 1, threads = 1;  // threads of each
  int64_t cores = 1;               // that were there
  double time = 0;                 // Unix seconds
  std::string engine;              // its version
  MachineSpeed speed;              // just before
  int64_t process_bytes = 0;       // that a rank holds besides its states and arena
  /// Links of all ranks, and of half of them while the others do the same.
  std::vector<Link> links;
  std::vector<OperatorRate> operators;
  std::vector<std::string> left_out = {};  // what the time was too short for, in words
};

/// $XDG_CACHE_HOME/heddle/calibration.json.
std::string calibration_file();

/// All that a file holds; nothing where there is none. Errors: damaged, or of another version.
Result<std::vector<Calibration>> read_calibrations(const std::string& file);

/// Puts it into the file in place of the one of the same host, ranks and threads. A file that
/// cannot be read is replaced.
Result<> keep_calibration(const std::string& file, const Calibration& calibration);

nlohmann::json to_json(const Calibration& calibration);
/// Throws nlohmann::json::exception.
Calibration calibration_from_json(const nlohmann::json& json);
nlohmann::json to_json(const OperatorRate& rate);
OperatorRate rate_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Link& link);
Link link_from_json(const nlohmann::json& json);

}  // namespace heddle::cost
