// Things that many nodes and values have in common are kept once, for good.
#pragma once

#include <mutex>
#include <unordered_set>

namespace heddle::graph {

/// One of each T, whose addresses stay: equal ones are the same one. Any thread.
template <typename T, typename Hash, typename Equal>
class Kept {
 public:
  /// The T that equals `key`, a range of its elements; made where there is none yet.
  template <typename Key>
  const T* find_or_keep(Key key) {
    const std::lock_guard lock(mutex_);
    auto found = all_.find(key);
    if (found == all_.end()) found = all_.emplace(key.begin(), key.end()).first;
    return &*found;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<T, Hash, Equal> all_;
};

}  // namespace heddle::graph
