// How long a rank waits for the others before the run ends as hung: by the recipe's [timeouts].
#pragma once

#include <chrono>
#include <deque>

#include "engine/recipe/recipe.h"

namespace heddle::train {

std::chrono::milliseconds in_milliseconds(double seconds);

class Patience {
 public:
  explicit Patience(const recipe::Timeouts& timeouts) : timeouts_(timeouts) {}

  /// Records how long a step has taken.
  void took(double seconds);
  /// For the next step. `saves`: a checkpoint is under way next to it.
  std::chrono::milliseconds limit(bool saves) const;

 private:
  recipe::Timeouts timeouts_;
  std::deque<double> last_;  // the last steps, in seconds
};

}  // namespace heddle::train
