// How far predictions were off published runs that they were not fitted on, by program, hardware
// and precision: how sure the next one is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::published {

/// As resources/published/accuracy.csv has them.
struct Accuracy {
  std::string program;   // of the catalogue, or an executor
  std::string hardware;  // a node of the catalogue
  std::string precision;
  int64_t rows = 0;   // published runs
  double off = 0;     // measured over predicted seconds of a step, less 1, in the median
  double spread = 0;  // nine of ten were no farther from that: a share
};

/// A table as `read_rows` reads, with these columns.
Result<std::vector<Accuracy>> read_accuracy(std::string_view table);

/// The text of the table that ships with Heddle.
const char* built_in_accuracy();

/// Seconds of the next run over the predicted ones, nine times in ten.
struct Expected {
  double low = 1, high = 1;
  int64_t rows = 0;            // published runs that say so
  bool on_hardware = false;    // they were on that hardware
  std::string hardware_words;  // "h100-sxm, gb200": where they were
};

/// From the runs of a program on that hardware in that precision; else in another precision there;
/// else on other hardware, half as far again. The predicted seconds are always within. Of an
/// unknown program: a factor of two.
Expected expected_of(const std::vector<Accuracy>& all, const std::string& program,
                     const std::string& hardware, const std::string& precision);

}  // namespace heddle::published
