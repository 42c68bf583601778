// Which layers are recomputed how, under the memory that is left: Galvatron's dynamic programming
// (arXiv 2211.13878) over the layers of a pipeline rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::search {

/// The cost of a layer in one of its ways.
struct LayerWay {
  double seconds = 0;
  int64_t bytes = 0;  // that it keeps
};

/// A way for each layer, by index, whose seconds are least in sum and whose bytes are at most
/// `memory`:
///
///     f(i, e) = min over ways w of f(i − 1, e − bytes(w)) + seconds(w)
///
/// Nothing where none fits. Bytes count in steps of memory / `steps`, rounded up; with as many
/// steps as bytes it is exact. Of equals the first way.
std::optional<std::vector<size_t>> choose_ways(const std::vector<std::vector<LayerWay>>& layers,
                                               int64_t memory, int64_t steps = 1024);

}  // namespace heddle::search
