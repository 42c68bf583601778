// How far something is, for people who wait: one line of a terminal that is written over. Where
// stderr is no terminal nothing is written.
#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/one_line.h"
#include "base/say.h"

namespace heddle {

class ProgressLine {
 public:
  void show(std::string_view text) {
    if (!isatty(STDERR_FILENO)) return;
    fmt::print(stderr, "\r{}\x1b[K", one_line(text));
    std::fflush(stderr);
    shown_ = true;
  }
  /// The next output begins on a new line.
  void end() {
    if (std::exchange(shown_, false)) fmt::print(stderr, "\n");
  }

 private:
  bool shown_ = false;
};

}  // namespace heddle
