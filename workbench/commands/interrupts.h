// Ctrl+C while a command waits.
#pragma once

#include <signal.h>

#include <atomic>

namespace heddle::workbench {

/// For its life the first SIGINT or SIGTERM is noted, the second has its usual effect.
class Interrupts {
 public:
  Interrupts() {
    seen = false;
    struct sigaction action {};
    action.sa_handler = [](int) { seen = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_[0]);
    sigaction(SIGTERM, &action, &before_[1]);
  }
  ~Interrupts() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGTERM, &before_[1], nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Whether there was one since the last call.
  bool take() { return seen.exchange(false); }

 private:
  inline static std::atomic<bool> seen;
  struct sigaction before_[2];
};

}  // namespace heddle::workbench
