// Generated text in a run's log: one line a sample, written by the trainer, read by the window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::telemetry {

struct Sample {
  int64_t step = 0;  // after which it was generated
  std::string how;   // "the likeliest tokens", "temperature 0.8"
  std::string text;  // the prompt and what follows it
};

/// "step 500: sample (temperature 0.8): Once upon a time".
std::string sample_line(const Sample& sample);
/// None: the line is none.
std::optional<Sample> sample_of(const std::string& line);

}  // namespace heddle::telemetry
