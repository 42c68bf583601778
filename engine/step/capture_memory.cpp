#include "engine/step/capture_memory.h"

#include <algorithm>

#include "engine/step/graph_file.h"

namespace heddle::step {

Result<Captured> CaptureMemory::capture(const recipe::Recipe& recipe, Work work) {
  std::string key = std::to_string(static_cast<int>(work)) + captured_from(recipe);
  auto known = std::ranges::find(kept_, key, &Kept::key);
  if (known == kept_.end()) {
    auto captured = capture_step(recipe, work);
    if (!captured) return captured;
    kept_.push_front({std::move(key), std::move(*captured)});
    if (kept_.size() > most_) kept_.pop_back();
    known = kept_.begin();
  }
  return known->captured;
}

}  // namespace heddle::step
