// Use of this machine's cores, which tells a busy machine from a slow one.
#pragma once

#include <string>

namespace heddle::cost {

/// Seconds of CPU time since the machine began, and when that was so.
struct CpuTimes {
  double cores = 0;  // that there are; 0: not known
  double busy = 0;   // of all cores
  double own = 0;    // of it, this process
  double at = 0;     // seconds of a steady clock
};

/// Now, by /proc/stat; of what is no such file nothing is known.
CpuTimes cpu_times();

/// Core use between two moments, as shares of all cores.
struct CpuUse {
  double own = 0, others = 0;

  /// Others take cores that this process could use: they use many, and few are idle.
  bool is_busy() const { return others > 0.1 && own + others > 0.8; }
};

/// `processes`: so many, of which this one is typical, count as own. Nothing is known of less than
/// a fifth of a second.
CpuUse cpu_use(const CpuTimes& from, const CpuTimes& to, double processes = 1);

}  // namespace heddle::cost
