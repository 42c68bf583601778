// How far predictions on this machine have been off: each finished run is compared with its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::cost {

/// Measured over predicted seconds, by work_name.
using WorkRatios = std::map<std::string, double>;

/// A finished run, and what was predicted of it before its first step.
struct Check {
  std::string host;
  std::string device;  // "cpu", "cuda"
  int64_t ranks = 1;
  double time = 0;                                     // Unix seconds
  double predicted_seconds = 0, measured_seconds = 0;  // of a step, in the median
  double predicted_bytes = 0, measured_bytes = 0;      // at the peak of a rank
  std::string build;                                   // of the program that ran it
  int64_t local_ranks = 1, threads = 1;                // on this host; of each
  WorkRatios work;                                     // by the rates as they were calibrated
  double others = 0;  // the share of the host's cores that others took from it; 0: it was alone
};

/// $XDG_CACHE_HOME/heddle/checks.json.
std::string checks_file();

/// Appends to the file, which keeps the last forty; a process at a time. What is no JSON is
/// replaced; a file that cannot be read stays, with an error.
Result<> keep_check(const std::string& file, const Check& check);

/// The file's entries, the oldest first; nothing where there is none or it is no
/// JSON, and no entry that is damaged.
std::vector<Check> read_checks(const std::string& file);

/// Measured over predicted, of the next run, nine times in ten.
struct Spread {
  double low = 1, high = 1;
};

/// The interval of the next number, if logarithms are normally distributed: the mean ±
/// Student's t · s · √(1 + 1/n). The more numbers, the narrower. Nothing of fewer than five.
std::optional<Spread> spread_of(const std::vector<double>& ratios);

/// How sure a prediction is.
struct Trust {
  double share = 0;                  // half of the runs were off by no more; 0: none was checked
  std::string words;                 // for people
  std::optional<Spread> step, peak;  // of a step's time and of the peak, where there were enough
};

/// From the runs on that host and device since a time, of any number of ranks; runs on a machine
/// that others used are left out: their times say nothing of the next.
Trust trust_in(const std::vector<Check>& checks, const std::string& host, const std::string& device,
               double since);
/// The same on this host, by its files, since it was calibrated.
Trust trust_here(const std::string& device);

/// When this host's CPUs or GPUs were, Unix seconds; 0: never.
double calibrated_here(const std::string& device);

}  // namespace heddle::cost
