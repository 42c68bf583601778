// The totals of a training run: train's last line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "base/result.h"
#include "engine/cost/checks.h"
#include "engine/runs/launch.h"
#include "engine/telemetry/step_averages.h"
#include "engine/train/runner.h"

namespace heddle::train {

/// Collected step by step on every rank.
struct Results {
  std::string mode;
  int64_t first_step = 1;  // 1-based; more where the run goes on from a checkpoint
  std::vector<double> losses;
  telemetry::StepAverages steps;           // of this rank
  std::map<std::string, double> averages;  // of the ranks' averages, by metric; known at the end
  cost::WorkRatios work;                   // of the profiled steps after the warm-up, on this rank
  double others = 0;              // the share of the host's cores that others took from them
  double first_step_seconds = 0;  // from the launcher's start to the first step's end
  int64_t tokens_per_step = 0;    // of one rank
  double flops_per_token = 0;     // recipe/modules.h
  // Bytes, of the rank that held most; known at the end.
  int64_t peak_of_ranks = 0;
  int64_t peak_reserved_of_ranks = 0;  // with what a GPU's allocator held in reserve
  std::optional<double> peak_flops;    // of the GPU; none for a CPU, or one that is not known

  /// Whether the last step was one of the first, which are slower.
  bool is_warm_up() const { return losses.size() <= telemetry::kWarmUpSteps; }
  /// The seconds of the steps after the warm-up.
  std::span<const double> timed() const;
  double median_step_seconds() const;
  double fastest_step_seconds() const;
  double tokens_per_second_per_rank() const;
  /// Model FLOPs utilization: the share of the peak that so many tokens a second of a rank need.
  std::optional<double> mfu(double tokens_per_second) const;
};

/// The ranks' averages as one, by metric. Every rank calls this and has values of the same metrics.
std::map<std::string, double> averages_of_ranks(const telemetry::StepAverages& mine, int64_t ranks,
                                                c10::Device device);

/// Rank 0 sets room aside for the results of so many steps, of a million at most.
Result<std::optional<NewFile>> reserve_results(const runs::RankContext& context, int64_t steps);

/// Rank 0 writes RUN_DIR/results.json into its room: one line. What a step did beyond its plan is
/// the figure of the rank that did most. Every rank calls this.
Result<> write_results(std::optional<NewFile> room, const runs::RankContext& context,
                       const Results& results, const Runner& runner, c10::Device device);

}  // namespace heddle::train
