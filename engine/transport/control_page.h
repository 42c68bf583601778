// A rank's progress, for the other ranks of its host: which collectives it has started, how far it
// is. One shared page a rank and group; the rank writes, the others map it and wait on it with
// futexes, so that no rank depends on another one's threads being scheduled.
//
// Thread contract: `post` from one thread at a time, `advance` from the transport's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/transport/operation.h"

namespace heddle::transport {

/// Collectives that a rank may have under way.
inline constexpr uint64_t kSlots = 256;

/// The page in shared memory. The counters are futexes; they wrap.
struct ControlPage {
  alignas(64) std::atomic<uint32_t> posted;    // collectives started: their slots can be read
  alignas(64) std::atomic<uint32_t> progress;  // 2s + 1: the first exchange of collective s is
                                               // done; 2s + 2: all reading for s is
  alignas(64) std::atomic<uint32_t> failed;    // 1: this rank has given up
  alignas(64) Descriptor slots[kSlots];        // of collective s: slots[s % kSlots]
};

inline uint32_t posted_mark(uint64_t sequence) { return static_cast<uint32_t>(sequence + 1); }
inline uint32_t exchanged_mark(uint64_t sequence) {
  return static_cast<uint32_t>(2 * sequence + 1);
}
inline uint32_t finished_mark(uint64_t sequence) { return static_cast<uint32_t>(2 * sequence + 2); }

/// Whether a wrapping counter has reached a mark.
inline bool reached(uint32_t counter, uint32_t mark) {
  return static_cast<int32_t>(counter - mark) >= 0;
}

/// Waits until the counter reaches the mark, or for `limit`. First spins `spins` times.
bool wait_for(const std::atomic<uint32_t>& counter, uint32_t mark, std::chrono::milliseconds limit,
              int spins);

/// A control page, own or another rank's, mapped.
class MappedPage {
 public:
  /// A new one; `fd` stays open, for others to open through /proc.
  static Result<MappedPage> create();
  /// That of another process of this host.
  static Result<MappedPage> open(int pid, int fd);

  MappedPage(MappedPage&& other) noexcept;
  MappedPage& operator=(MappedPage&&) = delete;
  ~MappedPage();

  int fd() const { return fd_; }
  ControlPage* operator->() const { return page_; }

  void post(const Descriptor& descriptor);
  void advance(uint32_t mark);
  void fail();

 private:
  MappedPage(int fd, ControlPage* page) : fd_(fd), page_(page) {}
  int fd_;
  ControlPage* page_;
};

}  // namespace heddle::transport
