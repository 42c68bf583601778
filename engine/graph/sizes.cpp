#include "engine/graph/sizes.h"

#include <c10/util/hash.h>

#include <mutex>
#include <unordered_set>

namespace heddle::graph {
namespace {

struct Hash {
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

struct Kept {
  std::mutex mutex;
  std::unordered_set<std::vector<int64_t>, Hash, Equal> all;
};

}  // namespace

Sizes::Sizes(c10::IntArrayRef sizes) {
  if (sizes.empty()) return;
  static Kept& kept = *new Kept;  // never destroyed: sizes may outlive static objects
  const std::lock_guard lock(kept.mutex);
  auto found = kept.all.find(sizes);
  if (found == kept.all.end()) found = kept.all.emplace(sizes.begin(), sizes.end()).first;
  kept_ = &*found;
}

}  // namespace heddle::graph
