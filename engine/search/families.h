// Layouts with all their ways to recompute, by the speed they promise when recomputation spends
// just the memory that there is. That is not the order of those that fit as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/search/estimate.h"
#include "engine/search/space.h"

namespace heddle::search {

struct Rated {
  Choice choice;
  Estimate estimate;
};

struct Family {
  Choice layout;            // without recomputation
  std::vector<Rated> ways;  // that the space has
  double promise = 0;       // seconds of a step that spends the memory; infinity: nothing fits
};

/// The most promising first. Of those that cut layers and batches alike, and differ in how ranks
/// share parameters, the most promising alone: recomputation gains as much in each of them.
/// `limit`: bytes of a rank; 0: none.
std::vector<Family> families_of(const std::vector<Rated>& rated, int64_t limit);

}  // namespace heddle::search
