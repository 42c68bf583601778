#include "engine/cost/cpu_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

namespace heddle::cost {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// "cpu  user nice system idle iowait irq softirq steal …", in ticks.
double busy_ticks(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  double sum = 0, ticks = 0;
  for (int column = 0; column < 8 && words >> ticks; ++column)
    if (column != 3 && column != 4) sum += ticks;
  return sum;
}

}  // namespace

CpuTimes cpu_times() {
  CpuTimes times;
  std::ifstream stat("/proc/stat");
  for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
    if (line.starts_with("cpu "))
      times.busy = busy_ticks(line) / static_cast<double>(sysconf(_SC_CLK_TCK));
    else
      ++times.cores;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  times.own = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  times.at =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return times;
}

CpuUse cpu_use(const CpuTimes& from, const CpuTimes& to, double processes) {
  constexpr double kShortest = 0.2;  // /proc/stat counts in hundredths
  const double seconds = to.at - from.at;
  if (seconds < kShortest || to.cores == 0 || from.cores == 0) return {};
  const double all = seconds * to.cores;
  const double own = std::max(0.0, to.own - from.own) * processes;
  return {std::min(own / all, 1.0), std::clamp((to.busy - from.busy - own) / all, 0.0, 1.0)};
}

}  // namespace heddle::cost
