// An error's report on the ranks' collectives.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/transport/control_page.h"
#include "engine/transport/journal.h"

namespace heddle::transport {

std::string mismatch_text(const std::string& group, int rank_a, const Descriptor& a, int rank_b,
                          const Descriptor& b);

/// How far a rank has come.
struct RankReport {
  int rank = 0;
  bool started = false;      // any collective
  uint64_t sequence = 0;     // of the last one
  std::string last = {};     // the last ones, oldest first
  std::string process = {};  // "process 123 is stopped", where that is known and worth telling
};

/// From its control page, or, where there is none (on another host), from what was last seen of it.
RankReport report_of(int rank, const ControlPage* page, const std::optional<Descriptor>& latest);

/// From what it has told of its journal; nothing: it has not answered.
RankReport report_of(int rank, const std::optional<Progress>& progress);

/// The first collective in which two ranks are not in the same one, as mismatch_text; empty where
/// all agree. `ranks`: of the run, in the order of `all`.
std::string mismatch_text(const std::string& group, const std::vector<int>& ranks,
                          const std::vector<std::optional<Progress>>& all);

/// Names the rank whose process does not run, else the one that is farthest behind, if one is.
std::string timeout_text(const std::string& group, const Descriptor& waited_for,
                         std::chrono::milliseconds timeout, const std::vector<RankReport>& ranks);

}  // namespace heddle::transport
