// Captured steps that are kept: recipes that differ in how they are planned alone share one.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "engine/step/capture.h"

namespace heddle::step {

/// One thread at a time.
class CaptureMemory {
 public:
  /// Keeps the newest `most`.
  explicit CaptureMemory(size_t most) : most_(most) {}

  /// As `capture_step`.
  Result<Captured> capture(const recipe::Recipe& recipe, Work work);

 private:
  struct Kept {
    std::string key;
    Captured captured;
  };
  size_t most_;
  std::deque<Kept> kept_;  // the newest first
};

}  // namespace heddle::step
