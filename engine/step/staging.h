// A copy of what a rank stores, from which it is written while training goes on.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/manifest.h"
#include "engine/step/states.h"

namespace heddle::step {

/// One thread copies or writes at a time.
class Staging {
 public:
  /// Allocates the copy and touches it, so that no save waits for fresh pages.
  Staging(const recipe::Recipe& recipe, int64_t rank, const runtime::NamedTensors& states,
          c10::Device device);

  int64_t bytes() const { return static_cast<int64_t>(copy_.nbytes()); }

  /// Takes the states as they are now.
  void take();
  /// Writes what was taken as FOLDER/rank-R.safetensors; nothing where the rank stores nothing.
  Result<checkpoint::Contents> write(const std::string& folder) const;

 private:
  int64_t rank_;
  std::vector<StoredState> stored_;  // what this rank writes
  at::Tensor copy_;                  // all of it, one after the other
};

}  // namespace heddle::step
