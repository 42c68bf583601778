// Estimates a layout from its profile: microseconds of work, so that thousands can be left out
// before any is planned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/hardware/entry.h"
#include "engine/search/profile.h"

namespace heddle::search {

struct Estimate {
  double least_seconds = 0;  // of a step: its computation, and the waits for it, take that long
  double seconds = 0;        // the expected time: adds transfers of parameters that nothing hides
  int64_t bytes = 0;         // of the rank that needs most
};

class Estimator {
 public:
  /// `entry`: the hardware's, without which transfers of parameters are not counted;
  /// `process_bytes`: memory of a rank besides its step.
  Estimator(const Question& question, const hardware::Entry* entry, int64_t process_bytes);

  /// Errors: the layout cannot be captured.
  Result<Estimate> of(const Choice& choice);
  Result<const Profile*> profile(const Choice& choice) { return profiles_.of(choice); }
  /// Layers of each pipeline rank.
  const std::vector<int64_t>& layers(const Choice& choice);

 private:
  /// Elements of a tensor-parallel rank, and how many of them are gathered in 8 bits.
  struct Elements {
    int64_t layer = 0, first = 0, last = 0;
    int64_t layer_in_8_bits = 0, last_in_8_bits = 0;
  };
  const Elements& elements(const Choice& choice);
  double transfer_seconds(const Choice& choice, double bytes) const;

  const Question& question_;
  const hardware::Entry* entry_;
  int64_t process_bytes_;
  Profiles profiles_;
  double optimizer_bytes_;                                 // for each number of the parameters
  std::map<std::pair<int64_t, bool>, Elements> elements_;  // by tp, and whether ranks share them
  std::map<std::pair<int64_t, bool>, std::vector<int64_t>> layers_;
};

/// The most micro-batches whose activations a pipeline rank keeps for backward.
int64_t under_way(const Choice& choice, int64_t pipeline_rank);

}  // namespace heddle::search
