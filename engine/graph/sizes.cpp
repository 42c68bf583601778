#include "engine/graph/sizes.h"

#include <c10/util/hash.h>

#include "engine/graph/kept.h"

namespace heddle::graph {
namespace {

struct SizesHash {
  using is_transparent = void;
  size_t operator()(c10::IntArrayRef sizes) const {
    size_t seed = sizes.size();
    for (int64_t size : sizes) seed = c10::hash_combine(seed, static_cast<size_t>(size));
    return seed;
  }
};

struct Equal {
  using is_transparent = void;
  bool operator()(c10::IntArrayRef a, c10::IntArrayRef b) const { return a == b; }
};

}  // namespace

Sizes::Sizes(c10::IntArrayRef sizes) {
  if (sizes.empty()) return;
  using Lists = Kept<std::vector<int64_t>, SizesHash, Equal>;
  static Lists& lists = *new Lists;  // never destroyed: sizes may outlive static objects
  kept_ = lists.find_or_keep(sizes);
}

}  // namespace heddle::graph
