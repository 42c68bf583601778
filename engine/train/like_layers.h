// The layers of a pipeline rank by the names of another rank's that are like them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::train {

class LikeLayers {
 public:
  /// `layers`: of each stage; those of a rank are `pp` apart. Both ranks have as many in each.
  LikeLayers(const std::vector<int64_t>& layers, int64_t pp, int64_t from, int64_t to);

  /// "all_gather layers.9+layers.10 (backward)" of what is said of layers.1 and layers.2.
  std::string renamed(std::string_view text) const;

 private:
  std::unordered_map<int64_t, int64_t> to_;  // numbers of layers
};

}  // namespace heddle::train
