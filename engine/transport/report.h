// What an error tells of the ranks' collectives.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/transport/control_page.h"

namespace heddle::transport {

std::string mismatch_text(const std::string& group, int rank_a, const Descriptor& a, int rank_b,
                          const Descriptor& b);

/// How far a rank has come.
struct RankReport {
  int rank = 0;
  bool started = false;   // any collective
  uint64_t sequence = 0;  // of the last one
  std::string last;       // the last ones, oldest first
};

/// From its control page, or, where there is none (on another host), from what was last seen of it.
RankReport report_of(int rank, const ControlPage* page, const std::optional<Descriptor>& latest);

/// Names the rank that is farthest behind.
std::string timeout_text(const std::string& group, const Descriptor& waited_for,
                         std::chrono::milliseconds timeout, const std::vector<RankReport>& ranks);

}  // namespace heddle::transport
