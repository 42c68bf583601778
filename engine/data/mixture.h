// Which of several texts each sample is of.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace heddle::data {

/// Each place in the order of samples falls to a text by chance, with the texts' weights: by the
/// seed and the place alone. Threads: any.
class Mixture {
 public:
  /// Weights more than 0, one a text.
  Mixture(const std::vector<double>& weights, uint64_t seed);

  struct Pick {
    size_t text = 0;
    int64_t place = 0;  // among the text's own samples: how many places before fell to it
  };
  Pick at(int64_t place) const;
  /// How many of the places before one fell to each text.
  std::vector<int64_t> before(int64_t place) const;

 private:
  size_t text_at(int64_t place) const;

  std::vector<double> below_;  // share of the texts up to each, itself included
  uint64_t seed_;
  // How many places fell to each text before the places 0, kBlock, 2 · kBlock …, as far as anybody
  // has asked.
  mutable std::mutex mutex_;
  mutable std::vector<std::vector<int64_t>> counts_;
};

}  // namespace heddle::data
