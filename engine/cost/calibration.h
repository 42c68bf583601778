// What was measured of a machine, and the file that keeps it. No LibTorch here.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::cost {

/// Seconds of a collective by the bytes of its whole tensors (all ranks' shards), ascending.
struct CurvePoint {
  int64_t bytes = 0;
  double seconds = 0;
};
using Curve = std::vector<CurvePoint>;

/// Seconds at a size: on straight lines between the points; behind the last one at its rate.
double at_bytes(const Curve& curve, int64_t bytes);

/// A kind of collective while compute stands still; while compute runs, which then is the longer
/// by what it lost (arXiv 2504.03662: overlapping slows both).
struct CollectiveTimes {
  Curve alone, beside_compute, lost;
};

/// How a group's collectives travel and how long they take.
struct Link {
  std::string transport;  // "memory", "memory + tcp", "tcp", "nccl"
  int64_t ranks = 0;
  CollectiveTimes all_gather = {}, reduce_scatter = {};
  bool estimated = false;  // by formula, not measured
};

/// The speed of an operator for operands of about this shape.
struct OperatorRate {
  std::string op;                     // "aten.mm"
  std::string dtype;                  // "f32", "bf16": of what it reads
  std::array<int64_t, 3> shape = {};  // mm: m, k, n; attention: B·H, S, D; others: zeros
  double per_second = 0;              // FLOP where passes::flops counts them, else bytes
};

struct Calibration {
  std::string host;
  Link link;
  std::vector<OperatorRate> operators;  // with all `link.ranks` ranks busy
};

/// $XDG_CACHE_HOME/heddle/calibration.json.
std::string calibration_file();

/// All that a file holds; nothing where there is none. Errors: damaged, or of another version.
Result<std::vector<Calibration>> read_calibrations(const std::string& file);

/// Puts it into the file in place of the one of the same host, transport and ranks. A file that
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
