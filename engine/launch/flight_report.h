// What the ranks of a host were in when their run hung or failed, as a text for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/transport/flight_recorder.h"

namespace heddle::launch {

struct RankFlight {
  int32_t rank = 0;
  std::vector<transport::FlightEntry> entries;  // in the order in which they were posted
};

/// The first collective of a group at which its ranks part: "#57 of group dp_shard: rank 0 is in
/// all-gather layers.3, rank 1 has not come to it". Of several groups the one whose rank waits
/// longest. Empty: they do not part.
std::string first_difference(const std::vector<RankFlight>& ranks);

/// The file's text. `cause`: why the run ended.
std::string flight_text(const std::vector<RankFlight>& ranks, const std::string& cause);

/// RUN_DIR/collectives.txt
std::string flight_file(const std::string& run_dir);

}  // namespace heddle::launch
