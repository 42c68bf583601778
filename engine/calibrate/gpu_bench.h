// Timing on a GPU by events, for calibration: repeated, with operands that no cache holds.
//
// Thread contract: the thread that computes.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cost/gpu_calibration.h"
#include "engine/runtime/device.h"
#include "engine/runtime/device_properties.h"
#include "engine/runtime/device_run.h"

namespace heddle::calibrate {

/// Median of repetitions, and the distance of their quartiles as a share of it.
struct Timing {
  double seconds = 0, spread = 0;
};

inline Timing timing_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const size_t n = seconds.size();
  const double median = seconds[n / 2];
  return {median, (seconds[3 * n / 4] - seconds[n / 4]) / median};
}

/// This rank's measurements.
class GpuBench {
 public:
  /// A quarter of what is free of the GPU is for operands. Throws c10::Error, as all of it.
  GpuBench(c10::Device gpu, runtime::DeviceRun& run)
      : gpu_(gpu),
        run_(run),
        room_(runtime::free_bytes(gpu) / 4),
        of_(runtime::device_properties(gpu)) {}

  std::vector<cost::GpuMeasurement> measured;

  c10::Device device() const { return gpu_; }
  const runtime::DeviceProperties& gpu() const { return of_; }
  runtime::DeviceRun& run() { return run_; }
  bool fits(int64_t bytes) const { return bytes <= room_; }
  at::TensorOptions options(at::ScalarType type) const {
    return at::TensorOptions(type).device(gpu_);
  }

  /// How many sets of operands of so many bytes no cache holds together.
  int64_t sets(int64_t bytes) const {
    constexpr int64_t kMax = 16;
    const int64_t enough = 4 * of_.cache_bytes / std::max<int64_t>(bytes, 1) + 1;
    return std::clamp<int64_t>(std::min(enough, room_ / std::max<int64_t>(bytes, 1)), 1, kMax);
  }

  /// Seconds of what is between two events, at least their resolution.
  double seconds_of(const std::function<void()>& work) {
    run_.begin_times(1);
    run_.before(0);
    work();
    run_.after(0);
    run_.finish();
    return seconds_at(0);
  }
  double seconds_at(size_t instruction) const {
    const auto found = run_.interval(instruction);
    TORCH_CHECK(found, "what is measured has not ended");
    return 1e-6 * static_cast<double>(std::max<int64_t>(found->end_us - found->begin_us, 1));
  }

  /// Seconds of one call among many, each with the number of a set. `calls`: how many are timed as
  /// one, the same on all ranks of a collective; 0: as many as take long enough.
  Timing time(const std::function<void(int64_t)>& call, int64_t sets, int64_t calls = 0) {
    // Libraries choose their kernels, and load them, in the first calls.
    seconds_of([&] { call(0); });
    const double once = seconds_of([&] { call(1 % sets); });
    if (calls == 0) calls = std::clamp<int64_t>(std::llround(kLongEnough / once), 1, kMaxCalls);
    std::vector<double> seconds;
    for (int round = 0; round < kRounds; ++round)
      seconds.push_back(seconds_of([&] {
                          for (int64_t i = 0; i < calls; ++i) call(i % sets);
                        }) /
                        static_cast<double>(calls));
    return timing_of(std::move(seconds));
  }

  void add(cost::GpuWork what, const char* name, std::vector<int64_t> shape, double work,
           const Timing& timing) {
    measured.push_back({what, name, std::move(shape), work, timing.seconds, timing.spread});
  }

 private:
  static constexpr int kRounds = 7;
  // The least time of calls that are timed as one: events resolve half a microsecond.
  static constexpr double kLongEnough = 2e-3;
  static constexpr int64_t kMaxCalls = 256;

  const c10::Device gpu_;
  runtime::DeviceRun& run_;
  const int64_t room_;
  const runtime::DeviceProperties of_;
};

}  // namespace heddle::calibrate
