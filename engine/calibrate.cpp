// `heddle-engine calibrate`: starts ranks that measure, keeps and prints what they found.
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/commands.h"
#include "engine/cost/calibration.h"
#include "engine/launch/process.h"
#include "engine/launch/run_ranks.h"

namespace heddle::engine {
namespace {

// Runs the ranks in a folder of their own; the calibration is in its results.json then.
Result<cost::Calibration> measure(const std::string& run_dir, int32_t ranks) {
  launch::Launch launch;
  launch.run = launch.mode = "calibrate";
  launch.world_size = launch.local_ranks = ranks;
  if (const auto written = launch::write_launch(run_dir, launch); !written) return fail(written);
  const auto outcome = launch::run_ranks(run_dir, launch::engine_program(), launch::now(), {});
  if (!outcome) return fail(outcome);
  if (outcome->end.exit_code != 0) return fail("{}{}", outcome->failed_output, outcome->end.cause);
  std::ifstream file(run_dir + "/results.json");
  try {
    return cost::calibration_from_json(nlohmann::json::parse(file));
  } catch (const nlohmann::json::exception& error) {
    return fail("{}/results.json: {}", run_dir, error.what());
  }
}

void print(const char* collective, const cost::CollectiveTimes& times) {
  if (times.alone.empty()) return;
  fmt::print("\n{:>14} {:>12} {:>8} {:>17} {:>16}\n", collective, "alone ms", "GB/s",
             "beside compute ms", "compute loses ms");
  for (const cost::CurvePoint& size : times.alone) {
    fmt::print("{:>14} {:>12.3f} {:>8.2f}", size.bytes, size.seconds * 1e3,
               static_cast<double>(size.bytes) * 1e-9 / size.seconds);
    const bool beside = std::any_of(times.lost.begin(), times.lost.end(),
                                    [&](const auto& point) { return point.bytes == size.bytes; });
    if (beside)
      fmt::print(" {:>17.3f} {:>16.3f}", cost::at_bytes(times.beside_compute, size.bytes) * 1e3,
                 cost::at_bytes(times.lost, size.bytes) * 1e3);
    fmt::print("\n");
  }
}

void print(const cost::Calibration& calibration) {
  const cost::Link& link = calibration.link;
  fmt::print("{}, {} ranks over {}\n", calibration.host, link.ranks, link.transport);
  print("all-gather", link.all_gather);
  print("reduce-scatter", link.reduce_scatter);
  fmt::print("\n{:<34} {:<5} {:<18} {:>16}\n", "operator", "dtype", "shape", "GFLOP/s or GB/s");
  for (const cost::OperatorRate& rate : calibration.operators) {
    const auto [a, b, c] = rate.shape;
    fmt::print("{:<34} {:<5} {:<18} {:>16.2f}\n", rate.op, rate.dtype,
               a > 0 ? fmt::format("{} x {} x {}", a, b, c) : "", rate.per_second * 1e-9);
  }
}

}  // namespace

int calibrate(int32_t ranks, bool json) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "heddle-calibrate-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    fmt::print(stderr, "{}: {}\n", folder, strerror(errno));
    return 1;
  }
  const auto calibration = measure(folder, ranks);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!calibration) {
    fmt::print(stderr, "{}\n", calibration.error().message);
    return 1;
  }
  const std::string file = cost::calibration_file();
  if (const auto kept = cost::keep_calibration(file, *calibration); !kept) {
    fmt::print(stderr, "{}\n", kept.error().message);
    return 1;
  }
  if (json) {
    fmt::print("{}\n", cost::to_json(*calibration).dump());
  } else {
    print(*calibration);
    fmt::print("\nkept in {}\n", file);
  }
  return 0;
}

}  // namespace heddle::engine
