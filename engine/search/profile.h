// Time and bytes of a layer in a layout: from a model of three layers, captured and planned as
// the whole one is. So a layout is judged by the planner's own figures before it is planned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "engine/predict/machine.h"
#include "engine/search/space.h"
#include "engine/step/capture.h"

namespace heddle::search {

/// Seconds of forward and backward of one micro-batch, exchanges of activations that compute waits
/// for included.
struct Passes {
  double forward = 0, backward = 0;
  double both() const { return forward + backward; }
};

struct Profile {
  Passes layer;
  Passes ends;                // embedding, last norm, output and loss
  int64_t kept_bytes = 0;     // that a layer's forward leaves for its backward
  int64_t working_bytes = 0;  // on top of kept activations, at the most, while a layer works
  int64_t last_bytes = 0;     // the same of the stage that has the output
  double update_seconds = 0;  // an element of a rank's shards
};

/// Makes profiles once and keeps them. Not for several threads.
class Profiles {
 public:
  explicit Profiles(const Question& question) : question_(question) {}

  /// Depends on the layout's degrees inside a layer, size of micro-batches and recomputation; on
  /// nothing else.
  Result<const Profile*> of(const Choice& choice);

 private:
  /// The degrees of ranks that share a micro-batch, cp's mode, sequences of a micro-batch.
  using Inside = std::tuple<recipe::Degrees, recipe::ContextMode, int64_t>;
  /// A small model and its machine.
  struct Small {
    recipe::Recipe recipe;
    predict::Machine machine;
    step::Captured captured;
  };

  Result<Small> capture(const Choice& choice) const;
  Result<Profile> measure(const Small& small, recipe::RecomputeMode mode) const;

  const Question& question_;
  std::map<std::pair<Inside, recipe::RecomputeMode>, Result<Profile>> known_;
  std::optional<std::pair<Inside, Result<Small>>> last_;  // modes of one are asked for in turn
};

}  // namespace heddle::search
