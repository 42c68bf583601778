// Another rank of this host, whose memory this one reads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/transport/control_page.h"

namespace heddle::transport {

/// Lets the other processes of this user read this one's memory, where the kernel (Yama) asks for
/// that. Once a process.
void allow_reading();

class MemoryPeer {
 public:
  /// Opens the control page of process `pid` and reads `probe_value` at `probe_address`: an error
  /// says why its memory cannot be read.
  static Result<MemoryPeer> open(int pid, int page_fd, uint64_t probe_address,
                                 uint64_t probe_value);
  MemoryPeer(MemoryPeer&& other) noexcept;
  MemoryPeer& operator=(MemoryPeer&&) = delete;
  ~MemoryPeer();

  const MappedPage& page() const { return page_; }

  /// Whether its process still runs.
  bool alive() const;
  /// "process 123 is stopped" where it is, by a signal or a debugger; else empty.
  std::string condition() const;

  /// Copies `from` of its memory to `to` of this one's: lists of the same bytes in all, cut at
  /// will.
  Result<> read(const std::vector<Range>& from, const std::vector<Range>& to) const;

  /// The list of ranges that a descriptor of it points to.
  Result<std::vector<Range>> sources(const Descriptor& descriptor) const;

 private:
  MemoryPeer(int pid, int pid_fd, MappedPage page)
      : pid_(pid), pid_fd_(pid_fd), page_(std::move(page)) {}
  int pid_;
  int pid_fd_;
  MappedPage page_;
};

}  // namespace heddle::transport
