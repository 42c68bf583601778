// The totals of a training run: train's last line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "base/result.h"
#include "engine/cost/checks.h"
#include "engine/runs/launch.h"
#include "engine/train/runner.h"

namespace heddle::train {

/// Collected step by step on every rank.
struct Results {
  static constexpr size_t kWarmUp = 3;

  std::string mode;
  int64_t first_step = 1;  // 1-based; more where the run goes on from a checkpoint
  std::vector<double> losses;
  std::vector<double> step_seconds;
  std::vector<double> exposed_seconds;  // of the profiled steps, on this rank
  std::vector<double> bubble_seconds;
  cost::WorkRatios work;  // of the profiled steps after the warm-up, on this rank
  double others = 0;      // the share of the host's cores that others took from them
  // The ranks' medians, their mean; none without such a step.
  std::optional<double> exposed_of_ranks;
  std::optional<double> bubble_of_ranks;
  double first_step_seconds = 0;  // from the launcher's start to the first step's end
  int64_t tokens_per_step = 0;    // of one rank
  double flops_per_token = 0;     // recipe/modules.h
  // Bytes, of the rank that held most; known at the end.
  int64_t peak_of_ranks = 0;
  int64_t peak_reserved_of_ranks = 0;  // with what a GPU's allocator held in reserve
  std::optional<double> peak_flops;    // of the GPU; none for a CPU, or one that is not known

  /// Whether the last step was one of the first, which are slower.
  bool is_warm_up() const { return step_seconds.size() <= kWarmUp; }
  /// The seconds of the steps after the warm-up (the first three, when there are more).
  std::vector<double> timed() const;
  double median_step_seconds() const;
  double fastest_step_seconds() const;
  double tokens_per_second_per_rank() const;
  /// A median, as the steps' is; else a few slow steps would make it the larger share of one.
  double median_exposed_seconds() const;
  double median_bubble_seconds() const;
  /// Model FLOPs utilization: the share of the peak that so many tokens a second of a rank need.
  std::optional<double> mfu(double tokens_per_second) const;
};

/// Rank 0 sets room aside for the results of so many steps, of a million at most.
Result<std::optional<NewFile>> reserve_results(const runs::RankContext& context, int64_t steps);

/// Rank 0 writes RUN_DIR/results.json into its room: one line. What a step did beyond its plan is
/// the figure of the rank that did most. Every rank calls this.
Result<> write_results(std::optional<NewFile> room, const runs::RankContext& context,
                       const Results& results, const Runner& runner, c10::Device device);

}  // namespace heddle::train
