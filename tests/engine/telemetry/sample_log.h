// A small log with every type of record, for the tests of this folder.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/telemetry/log_reader.h"

namespace heddle::telemetry {

inline std::vector<Record> sample_records() {
  return {
      Start{1e9, 1, 2, "planned", {{"host", "loom"}, {"torch", "2.11.0"}}, {{"nodes", 8044}}},
      Log{1e9 + 1, Level::warning, "slow disk: größer als erwartet"},
      Step{1, 1e9 + 2, {{"loss", 8.25}, {"tokens_per_second", 1234.5}}},
      Step{2,
           1e9 + 3,
           {{"loss", std::numeric_limits<double>::quiet_NaN()},
            {"grad_norm", std::numeric_limits<double>::infinity()},
            {"lr", -std::numeric_limits<double>::infinity()}}},
      Spans{2,
            1e9 + 3,
            {{"mm", "layers.3.attention.wq", 10, 250, 0, 0},
             {"all_gather", "layers.4", 12, 900, 1, 1},
             {"mm", "layers.3.attention.wk", 260, 240, 0, 2}}},
      End{1e9 + 4, "failed", "rank 1: loss is not finite", {{"peak_bytes", 3e9}}},
  };
}

inline std::vector<std::string> sample_frames() {
  std::vector<std::string> frames;
  for (const Record& record : sample_records()) {
    frames.push_back(encode(record, frames.size()).value());
  }
  return frames;
}

inline std::string joined(const std::vector<std::string>& frames) {
  std::string log;
  for (const std::string& frame : frames) log += frame;
  return log;
}

struct Parsed {
  std::vector<Frame> frames;
  std::vector<Gap> gaps;
};

inline void take(LogReader& reader, Parsed& parsed) {
  while (auto event = reader.next()) {
    if (auto* frame = std::get_if<Frame>(&*event)) parsed.frames.push_back(std::move(*frame));
    if (auto* gap = std::get_if<Gap>(&*event)) parsed.gaps.push_back(std::move(*gap));
  }
}

/// The whole of a log that has ended.
inline Parsed parse(std::string_view log, uint64_t offset = 0) {
  LogReader reader(offset);
  Parsed parsed;
  reader.feed(log);
  reader.finish();
  take(reader, parsed);
  return parsed;
}

}  // namespace heddle::telemetry
