// `heddle-engine calibrate`: starts ranks that measure, keeps and prints what they found.
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

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

void print(const cost::Calibration& calibration) {
  const cost::Link& link = calibration.link;
  fmt::print("{}, {} ranks over {}\n", calibration.host, link.ranks, link.transport);
  for (const auto& [bytes, seconds] : link.beside_compute)
    fmt::print("beside compute {} bytes take {:.3f} ms, {:.3f} ms without\n", bytes, seconds * 1e3,
               cost::at_bytes(link.all_gather, bytes) * 1e3);
  fmt::print("compute loses {:.0f} % of its speed meanwhile\n\n", link.contention * 100);
  if (!link.all_gather.empty())
    fmt::print("{:>12} {:>14} {:>8} {:>18} {:>8}\n", "whole bytes", "all-gather ms", "GB/s",
               "reduce-scatter ms", "GB/s");
  for (size_t i = 0; i < link.all_gather.size(); ++i) {
    const auto& [bytes, gather] = link.all_gather[i];
    const double scatter = link.reduce_scatter[i].seconds, giga = static_cast<double>(bytes) * 1e-9;
    fmt::print("{:>12} {:>14.3f} {:>8.2f} {:>18.3f} {:>8.2f}\n", bytes, gather * 1e3, giga / gather,
               scatter * 1e3, giga / scatter);
  }
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
