#include "engine/cost/machine_speed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <vector>

#include "base/clock.h"
#include "base/cores.h"
#include "engine/cost/cpu_use.h"

namespace heddle::cost {
namespace {

constexpr double kSeconds = 0.25;  // for each of both

// Results are written to memory that the compiler cannot know unused.
volatile float kept;

// Independent sums keep the units for multiply-adds busy.
double flops_of_core() {
  constexpr size_t kSums = 64;
  constexpr int kRounds = 4096;
  std::array<float, kSums> sums{}, factors{};
  factors.fill(0.999f);
  double done = 0;
  const auto begin = Clock::now();
  do {
    for (int round = 0; round < kRounds; ++round)
      for (size_t i = 0; i < kSums; ++i) sums[i] = sums[i] * factors[i] + 1.0f;
    done += 2.0 * kSums * kRounds;
  } while (seconds_since(begin) < kSeconds);
  for (const float sum : sums) kept = sum;
  return done / seconds_since(begin);
}

double bytes_of_core() {
  constexpr size_t kBytes = size_t{24} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  double done = 0;
  const auto begin = Clock::now();
  do {
    std::memcpy(to.data(), from.data(), kBytes);
    from[0] = to[kBytes - 1];
    done += 2.0 * kBytes;
  } while (seconds_since(begin) < kSeconds);
  return done / seconds_since(begin);
}

template <typename Measure>
double on_all_cores(const Measure& measure) {
  std::vector<std::future<double>> speeds;
  for (int core = 0; core < usable_cores(); ++core)
    speeds.push_back(std::async(std::launch::async, measure));
  double sum = 0;
  for (std::future<double>& speed : speeds) sum += speed.get();
  return sum;
}

}  // namespace

MachineSpeed measure_machine_speed() {
  const CpuTimes before = cpu_times();
  MachineSpeed speed{on_all_cores(flops_of_core), on_all_cores(bytes_of_core)};
  const CpuUse use = cpu_use(before, cpu_times());
  if (use.is_busy()) speed.others = use.others;
  return speed;
}

}  // namespace heddle::cost
