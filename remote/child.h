// A program on this machine in a session of its own, without a terminal: it cannot ask there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "remote/dial.h"

namespace heddle::remote {

/// Killed with all that it started, and waited for, by its owner's end.
class Child {
 public:
  /// Its three streams; the caller closes its own copies.
  static Result<Child> start(const std::vector<std::string>& argv, int in, int out, int err);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  /// 128 + signal where one has killed it; nothing: it runs at `end`.
  std::optional<int> exit_code(Clock::time_point end) const;
  /// SIGTERM, so that it can clean up.
  void terminate() const;

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;  // not reaped before the end: until then nothing else has its number
};

}  // namespace heddle::remote
