// Which keys the rows of a block of queries see: what attention's kernel computes, and what not.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::kernels {

using Optional = std::optional<at::Tensor>;

/// Columns [begin, end) of a block's scores.
struct Columns {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

/// Keys [key, key + columns.count()) in those columns.
struct Segment {
  int64_t key;
  Columns columns;
};

/// Queries whose keys are looked up together.
inline constexpr int64_t kSightRows = 64;

/// The keys that a query sees of a piece of `count` keys from `start` on, counted from its start.
inline Columns columns_of_piece(int64_t first, int64_t last, int64_t start, int64_t count) {
  return {std::max<int64_t>(first - start, 0), std::min(last - start + 1, count)};
}

/// Which keys a query sees; see `Keys` in operators.h. `seen`: SightNumbers::seen.
class Sight {
 public:
  Sight(const at::Tensor& q, const at::Tensor& k, const Optional& first, const Optional& last,
        const Optional& starts, const Optional& seen)
      : queries_(q.size(1)), piece_(k.size(1)) {
    TORCH_CHECK(first.has_value() == last.has_value() && first.has_value() == seen.has_value(),
                "attention takes first and last keys and what is seen of them, or none");
    if (first) {
      TORCH_CHECK(first->numel() == q.size(0) * queries_ && last->numel() == first->numel(),
                  "attention takes a first and a last key for each of q's ", q.size(0), " x ",
                  queries_, " tokens, not ", first->sizes(), " and ", last->sizes());
      first_ = first->contiguous();
      last_ = last->contiguous();
      seen_ = *seen;
    } else {
      TORCH_CHECK(k.size(1) == queries_, "causal attention takes as many keys as queries, not ",
                  k.size(1), " and ", queries_);
    }
    if (!starts) return;
    TORCH_CHECK(first, "attention takes pieces of keys with first and last keys alone");
    TORCH_CHECK(starts->numel() > 0 && piece_ % starts->numel() == 0, "attention takes ",
                starts->numel(), " equal pieces of keys, but there are ", piece_, " keys");
    starts_ = starts->contiguous();
    piece_ /= starts->numel();
  }

  /// The keys that any of the kSightRows rows from `row` on sees, side by side, in parts of at most
  /// so many columns.
  std::vector<std::vector<Segment>> parts(int64_t b, int64_t row, int64_t most) const {
    std::vector<std::vector<Segment>> parts;
    int64_t column = most;  // of the last part
    for (Segment segment : segments(b, row)) {
      while (segment.columns.count() > 0) {
        if (column == most) {
          parts.emplace_back();
          column = 0;
        }
        const int64_t count = std::min(segment.columns.count(), most - column);
        parts.back().push_back({segment.key, {column, column + count}});
        column += count;
        segment.key += count;
        segment.columns.begin += count;
      }
    }
    return parts;
  }

  /// The columns of a segment that a row sees; none where begin is not below end.
  Columns columns(int64_t b, int64_t row, const Segment& segment) const {
    const int64_t piece = segment.key / piece_, from = segment.key - piece * piece_;
    const Columns seen = seen_of(b, row, piece);
    const int64_t shift = segment.columns.begin - from;
    return {std::max(seen.begin + shift, segment.columns.begin),
            std::min(seen.end + shift, segment.columns.end)};
  }

 private:
  std::vector<Segment> segments(int64_t b, int64_t row) const {
    if (!seen_.defined()) return {{0, {0, std::min(row + kSightRows, queries_)}}};
    std::vector<Segment> found;
    int64_t column = 0;
    const int64_t pieces = starts_.defined() ? starts_.numel() : 1;
    const auto* seen =
        seen_.const_data_ptr<int64_t>() + (b * seen_.size(1) + row / kSightRows) * pieces * 2;
    for (int64_t piece = 0; piece < pieces; ++piece, seen += 2) {
      const Columns keys{seen[0], seen[1]};
      if (keys.count() <= 0) continue;
      found.push_back({piece * piece_ + keys.begin, {column, column + keys.count()}});
      column += keys.count();
    }
    return found;
  }

  // Keys of a piece, from its start.
  Columns seen_of(int64_t b, int64_t row, int64_t piece) const {
    const int64_t start = starts_.defined() ? starts_.const_data_ptr<int64_t>()[piece] : 0;
    const int64_t query = b * queries_ + row;
    const int64_t first = first_.defined() ? first_.const_data_ptr<int64_t>()[query] : 0;
    const int64_t last = last_.defined() ? last_.const_data_ptr<int64_t>()[query] : row;
    return columns_of_piece(first, last, start, piece_);
  }

  int64_t queries_;
  int64_t piece_;  // keys
  at::Tensor first_, last_, starts_, seen_;
};

}  // namespace heddle::kernels
