// The order in which the samples of a text are read, known before all of it is tokenized.
#pragma once

#include <cstdint>

namespace heddle::data {

/// Samples are shuffled within windows, and windows are read one after the other. The first holds
/// 2^24 tokens, each further one as many as all before it, up to 2^33: so the first samples are
/// known after seconds of tokenizing, and yet each is mixed with about half of what comes before
/// it. A text of one window is shuffled as a whole. The last window ends where the text does.
class SampleOrder {
 public:
  /// `seq_len`: tokens of a sample, less the one that is a label alone.
  SampleOrder(int64_t seq_len, uint64_t seed);

  /// How many samples of the text must be known before the one at a place of the order is: those up
  /// to the end of its window.
  int64_t needed(int64_t place) const;
  /// The sample at a place below `samples`, all that the text has in an epoch, or at least
  /// `needed(place)`.
  int64_t sample(int64_t place, int64_t samples, int64_t epoch) const;

 private:
  struct Window {
    int64_t begin;
    int64_t end;
    int64_t number;
  };
  Window window_of(int64_t place) const;

  int64_t first_, most_;  // samples of a window
  uint64_t seed_;
};

}  // namespace heddle::data
