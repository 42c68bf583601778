// `heddle-engine calibrate`: starts ranks that measure, one number of them after the other; keeps
// and prints what they found.
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/cores.h"
#include "base/durable_file.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_json.h"
#include "base/say.h"
#include "engine/cost/calibration.h"
#include "engine/launch/run_ranks.h"
#include "engine/runs/engine_program.h"
#include "engine/torch_commands/calibrating.h"
#include "engine/torch_commands/torch_commands.h"

namespace heddle::torch_commands {
namespace {

constexpr int32_t kMaxCalibrated = 64;

Result<nlohmann::json> measure_in(const std::string& run_dir, int32_t ranks,
                                  const std::string& recipe) {
  runs::Launch launch;
  launch.run = launch.mode = "calibrate";
  launch.world_size = launch.local_ranks = ranks;
  if (const auto written = runs::write_launch(run_dir, launch); !written) return fail(written);
  if (!recipe.empty())
    if (const auto written = write_atomically(run_dir + "/recipe.toml", recipe); !written)
      return fail(written);
  const auto outcome = launch::run_ranks(run_dir, runs::engine_program(), unix_now(), {}, {});
  if (!outcome) return fail(outcome);
  if (outcome->end.exit_code != 0) return fail("{}{}", outcome->failed_output, outcome->end.cause);
  return read_json_file(run_dir + "/results.json");
}

void print(const char* collective, const cost::CollectiveTimes& times) {
  if (times.alone.empty()) return;
  say("\n{:>14} {:>12} {:>8} {:>17} {:>16}\n", collective, "alone ms", "GB/s", "beside compute ms",
      "compute loses ms");
  for (const cost::CurvePoint& size : times.alone) {
    say("{:>14} {:>12.3f} {:>8.2f}", size.bytes, size.seconds * 1e3,
        static_cast<double>(size.bytes) * 1e-9 / size.seconds);
    const bool beside = std::any_of(times.lost.begin(), times.lost.end(),
                                    [&](const auto& point) { return point.bytes == size.bytes; });
    if (beside)
      say(" {:>17.3f} {:>16.3f}", cost::at_bytes(times.beside_compute, size.bytes) * 1e3,
          cost::at_bytes(times.lost, size.bytes) * 1e3);
    say("\n");
  }
}

void print(const cost::Calibration& calibration) {
  say("{}: {} rank{} of {} thread{} on {} cores, {:.0f} GFLOP/s and {:.1f} GB/s in all\n",
      calibration.host, calibration.ranks, calibration.ranks == 1 ? "" : "s", calibration.threads,
      calibration.threads == 1 ? "" : "s", calibration.cores,
      calibration.speed.flops_per_second * 1e-9, calibration.speed.bytes_per_second * 1e-9);
  if (calibration.speed.others > 0)
    say("other programs used {:.0f} % of the cores meanwhile: measure again when they are gone\n",
        calibration.speed.others * 100);
  for (const std::string& what : calibration.left_out)
    say("not measured, for lack of time: {}\n", what);
  say("a rank's process takes {} besides its plan\n",
      bytes_text(static_cast<double>(calibration.process_bytes)));
  for (const cost::Link& link : calibration.links) {
    say("\n{} of its ranks over {}\n", link.ranks, link.transport);
    print("all-gather", link.all_gather);
    print("reduce-scatter", link.reduce_scatter);
  }
  say("\n{:<34} {:<5} {:<18} {:>16}\n", "operator", "dtype", "shape", "GFLOP/s or GB/s");
  for (const cost::OperatorRate& rate : calibration.operators) {
    const auto [a, b, c] = rate.shape;
    say("{:<34} {:<5} {:<18} {:>16.2f}\n", rate.op, rate.dtype,
        a > 0 ? fmt::format("{} x {} x {}", a, b, c) : "", rate.per_second * 1e-9);
  }
}

// With a rank alone, a rank for each core, and twice as many.
std::vector<int32_t> usual_ranks() {
  const auto cores = static_cast<int32_t>(usable_cores());
  std::vector<int32_t> ranks = {1, cores, std::min(2 * cores, kMaxCalibrated)};
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Result<cost::Calibration> calibrate_with(int32_t ranks) {
  const cost::MachineSpeed speed = cost::measure_machine_speed();
  const auto measured = measure_with_ranks(ranks, {});
  if (!measured) return fail(measured);
  cost::Calibration calibration;
  try {
    calibration = cost::calibration_from_json(*measured);
  } catch (const nlohmann::json::exception& error) {
    return fail("results.json: {}", error.what());
  }
  calibration.speed = speed;
  if (const auto kept = cost::keep_calibration(cost::calibration_file(), calibration); !kept)
    return fail(kept);
  return calibration;
}

}  // namespace

Result<nlohmann::json> measure_with_ranks(int32_t ranks, const std::string& recipe) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "heddle-calibrate-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return fail("{}: {}", folder, strerror(errno));
  auto measured = measure_in(folder, ranks, recipe);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return measured;
}

int calibrate(int32_t ranks, bool json) {
  nlohmann::json all = nlohmann::json::array();
  for (const int32_t each : ranks > 0 ? std::vector{ranks} : usual_ranks()) {
    const auto calibration = calibrate_with(each);
    if (!calibration) {
      say(stderr, "{}\n", calibration.error().message);
      return 1;
    }
    if (json) {
      all.push_back(cost::to_json(*calibration));
    } else {
      print(*calibration);
      say("\n");
      fflush(stdout);
    }
  }
  if (json)
    say("{}\n", json_text(nlohmann::json{{"calibrations", std::move(all)}}));
  else
    say("kept in {}\n", cost::calibration_file());
  return 0;
}

}  // namespace heddle::torch_commands
