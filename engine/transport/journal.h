// The newest collectives that a rank has started in a group whose collectives run on a device, kept
// for the report of a stall.
//
// Thread contract: any thread.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "engine/transport/operation.h"

namespace heddle::transport {

/// How far a rank has come, with what it was in: the last collectives that have ended, and those
/// that have not.
struct Progress {
  uint64_t ended = 0;               // collectives
  std::vector<Descriptor> entries;  // in order; without a gap

  /// The oldest collective that has not ended; null where all have.
  const Descriptor* stalled() const;
};

class Journal {
 public:
  /// `ended` counts the collectives that the device has ended, in order; it outlives the journal.
  explicit Journal(const std::atomic<uint64_t>& ended) : ended_(ended) {}

  /// Notes a collective that is started, and numbers it.
  uint64_t post(Descriptor descriptor);

  /// Between these, collectives are posted that the device does not run: each is over when
  /// `recorded` says that the call which records it has returned. They are forgotten at the end,
  /// and so is their numbering. None is under way at either time.
  void begin_recording();
  void recorded();
  void end_recording();

  Progress progress() const;

 private:
  uint64_t ended() const { return ended_.load(std::memory_order_acquire) + recorded_; }

  const std::atomic<uint64_t>& ended_;
  mutable std::mutex mutex_;
  uint64_t posted_ = 0;
  uint64_t recorded_ = 0, recorded_from_ = 0;  // how many, from which number on
  std::deque<Descriptor> entries_;
};

/// As bytes of a message between ranks of one build, and back; bytes that are none give an empty
/// one.
std::vector<uint8_t> to_bytes(const Progress& progress);
Progress progress_from(const std::vector<uint8_t>& bytes);

}  // namespace heddle::transport
