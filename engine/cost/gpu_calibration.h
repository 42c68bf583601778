// The measurements of a node's GPUs, and the catalogue entry made from them. No LibTorch here.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/hardware/catalogue.h"

namespace heddle::cost {

/// The kinds of measurement, by their names in JSON.
enum class GpuWork {
  product,             // of bf16: m, k, n; FLOP
  float8_product,      // the same of e4m3, with a scale for each tensor
  sustained_product,   // of bf16, for as long as it takes the clock to settle
  attention,           // of bf16, causal: tokens, heads, head dim; FLOP
  attention_backward,  // the same
  one_pass,            // a kernel that memory limits; bytes read and written
  graph_launch,        // of a kernel with next to nothing to do, in a CUDA graph
  launch,              // the same called one by one
  to_host,             // a copy to pinned memory; bytes
  from_host,
  gather,  // collectives: ranks; bytes of the whole tensors
  scatter,
  all_reduce,
  all_to_all,
};
inline constexpr std::array<std::string_view, 14> kGpuWorkNames = {"product",
                                                                   "float8_product",
                                                                   "sustained_product",
                                                                   "attention",
                                                                   "attention_backward",
                                                                   "one_pass",
                                                                   "graph_launch",
                                                                   "launch",
                                                                   "to_host",
                                                                   "from_host",
                                                                   "gather",
                                                                   "scatter",
                                                                   "all_reduce",
                                                                   "all_to_all"};

struct GpuMeasurement {
  GpuWork what = GpuWork::product;
  std::string name;            // of the operator
  std::vector<int64_t> shape;  // as `what` has it
  double work = 0;             // FLOP, bytes; 0: none to speak of
  double seconds = 0;          // of one: the median over repetitions, and over ranks
  double spread = 0;           // as a share: between the quartiles, or the ranks
};

/// A gather while products run that outlast it (arXiv 2504.03662: each slows the other).
struct GpuContention {
  int64_t ranks = 0, bytes = 0;
  double gather_alone = 0, gather_beside = 0, products_alone = 0, products_beside = 0;  // seconds
};

struct GpuCalibration {
  std::string host;
  double time = 0;     // Unix seconds
  std::string engine;  // its version
  std::string gpu;     // as its driver names it
  std::string state;   // clock, power and temperature while products ran; or why not known
  int64_t ranks = 1;   // a GPU each, all of them busy
  int64_t gpus = 1;    // of the node
  int64_t multiprocessors = 0, memory_bytes = 0;
  int64_t context_bytes = 0;  // that a rank's GPU has no more once it is in use
  int64_t buffers_bytes = 0;  // nor once the ranks have met
  std::vector<GpuMeasurement> measurements;
  std::vector<GpuContention> contention;
};

nlohmann::json to_json(const GpuCalibration& calibration);
/// Throws nlohmann::json::exception.
GpuCalibration gpu_calibration_from_json(const nlohmann::json& json);

/// A file of the catalogue with a device and a node of this name.
struct MeasuredEntry {
  std::string name;  // "measured-HOST"
  std::string text;
  std::vector<std::string> remarks;  // what was measured and cannot be
};

/// The name of the entry that a host's GPUs have.
std::string measured_name(const std::string& host);

/// Like the entry that the catalogue has for this GPU, with what was measured in the place of what
/// is published or guessed there. The rate of products is the one by which `product_seconds` gives,
/// in the median, the times that were measured; collectives are latency and rate by least squares.
/// An error where the catalogue knows no such GPU.
Result<MeasuredEntry> measured_entry(const GpuCalibration& calibration,
                                     const hardware::Catalogue& catalogue);

}  // namespace heddle::cost
