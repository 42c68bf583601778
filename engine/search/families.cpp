#include "engine/search/families.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace heddle::search {
namespace {

/// Between two ways in proportion to the memory that the limit leaves.
double promise_of(const std::vector<Rated>& ways, int64_t limit) {
  double least = std::numeric_limits<double>::infinity();
  for (const Rated& small : ways) {
    if (limit > 0 && small.estimate.bytes > limit) continue;
    least = std::min(least, small.estimate.seconds);
    for (const Rated& large : ways) {
      if (limit == 0 || large.estimate.bytes <= limit) continue;
      const double share = static_cast<double>(limit - small.estimate.bytes) /
                           static_cast<double>(large.estimate.bytes - small.estimate.bytes);
      least = std::min(least, std::lerp(small.estimate.seconds, large.estimate.seconds, share));
    }
  }
  return least;
}

}  // namespace

std::vector<Family> families_of(const std::vector<Rated>& rated, int64_t limit) {
  std::vector<Family> families;
  std::map<std::string, size_t> known;
  for (const Rated& each : rated) {
    Choice layout = each.choice;
    layout.recompute = recipe::RecomputeMode::none;
    layout.budget = 0;
    const auto [at, is_new] = known.try_emplace(words_of(layout), families.size());
    if (is_new) families.push_back({layout, {}, 0});
    families[at->second].ways.push_back(each);
  }
  for (Family& family : families) family.promise = promise_of(family.ways, limit);
  std::ranges::stable_sort(families, {}, &Family::promise);
  std::set<std::string> cuts;
  std::erase_if(families, [&](const Family& family) {
    Choice alike = family.layout;
    static_cast<recipe::Degrees&>(alike) = recipe::keep_degrees(alike, ~recipe::kSamples);
    alike.micro_batches = 1;
    alike.reshard = true;
    return !cuts.insert(words_of(alike)).second;
  });
  return families;
}

}  // namespace heddle::search
