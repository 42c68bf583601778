// The newest collectives of a rank, in memory that it shares with its supervisor: what it was in
// when it hung or failed is known afterwards, also of a rank that was killed.
//
// Thread contract: each group's thread posts, begins and ends its own collectives; the supervisor
// reads once the rank is gone.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::transport {

/// One collective of one rank. Times are Unix seconds, 0: not yet.
struct FlightEntry {
  uint64_t number = 0;       // of all that the rank has posted, from 1
  uint64_t sequence = 0;     // in its group
  uint64_t bytes = 0;        // that this rank offers
  double posted = 0;         // by this rank
  double begun = 0;          // all ranks have come, data flows
  double ended = 0;          // nobody reads from this rank any more
  int32_t first_member = 0;  // rank of the run: groups of one name differ in it
  std::array<char, 24> group{};
  std::array<char, 136> what{};  // "all-gather layers.3", and its type
};

inline constexpr size_t kFlightEntries = 128;
/// The memory that they take.
inline constexpr size_t kFlightBytes = (kFlightEntries + 1) * sizeof(FlightEntry);

class FlightRecorder {
 public:
  /// In that file from `offset`, a multiple of a page, where there are kFlightBytes.
  static Result<std::shared_ptr<FlightRecorder>> open(int fd, off_t offset);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Its number; times are set here.
  uint64_t post(const std::string& group, int32_t first_member, uint64_t sequence,
                const std::string& what, uint64_t bytes);
  void begin(uint64_t number);
  void end(uint64_t number);

 private:
  explicit FlightRecorder(FlightEntry* entries) : entries_(entries) {}
  FlightEntry* entry(uint64_t number);

  FlightEntry* entries_;
  std::atomic<uint64_t> posted_{0};
};

/// The entries that were left there, in the order in which they were posted; none where the file
/// does not have them.
std::vector<FlightEntry> read_flight(int fd, off_t offset);

}  // namespace heddle::transport
