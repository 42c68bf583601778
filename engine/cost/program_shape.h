// A recipe as another program runs it: the numbers that its time and memory follow from.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cost/collective_time.h"
#include "engine/recipe/recipe.h"

namespace heddle::cost {

inline constexpr double kBf16Bytes = 2;

/// The states that every data-parallel rank keeps a copy of.
enum class Kept { all, all_but_states, shards };

struct ProgramShape {
  int64_t dim = 0, ffn = 0, vocabulary = 0;
  int64_t tokens = 0;         // of a micro-batch on one rank
  int64_t micro_batches = 1;  // of a step
  int64_t tp = 1, cp = 1, pp = 1;
  int64_t stages_a_rank = 1;        // with an interleaved schedule
  std::vector<int64_t> layers;      // of each pipeline rank
  double layer_parameters = 0;      // of a tensor-parallel rank
  double embedding_parameters = 0;  // as many as the head's
  bool tied = false;                // and on one pipeline rank: there is one matrix
  Kept kept = Kept::all;
  int64_t copies = 1, shards = 1;  // data-parallel ranks, and those that share what is sharded
  int64_t nodes = 1;
  Placement tensors, copied, sharded;  // the groups of tp, of `copies` and of `shards`
  bool gathers_twice = true;           // parameters are given up after forward
  bool async_exchanges = false;
  double gradient_bytes = 4;   // that one is reduced in
  double optimizer_bytes = 0;  // that the optimizer keeps for a parameter, its master not counted
  recipe::RecomputeMode recompute = recipe::RecomputeMode::none;

  /// Parameters of a pipeline rank, on a tensor-parallel rank.
  double parameters(int64_t rank) const;
};

/// The shape of a resolved recipe on nodes of so many devices.
ProgramShape program_shape(const recipe::Recipe& recipe, int64_t devices_per_node);

}  // namespace heddle::cost
