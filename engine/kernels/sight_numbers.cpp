#include "engine/kernels/sight_numbers.h"

#include <ATen/ops/zeros.h>

#include <numeric>

namespace heddle::kernels {
namespace {

using at::Tensor;

constexpr int64_t kEnds = 5;  // of the segments of a SeenRange

constexpr int64_t words(int64_t ints) { return (ints + 1) / 2; }

// The numbers of a block of queries, by where they begin in it.
constexpr int64_t kSegments = 0, kFound = kSegments + words(cuda::kPieceDocuments + 1),
                  kFlags = kFound + words(2), kQueryEnds = kFlags + 1,
                  kRanges = kQueryEnds + words(kEnds);

int64_t row_blocks(int64_t queries) { return (queries + kSightRows - 1) / kSightRows; }

// Makes the numbers, in the places that `SightNumbers` gives them.
class Maker {
 public:
  Maker(const Tensor& first, const Tensor& last, const Optional& starts, const SightSizes& sizes)
      : sizes_(sizes),
        places_(sizes),
        first_(first.contiguous()),
        last_(last.contiguous()),
        sight_(at::zeros({places_.count()}, at::kLong)),
        starts_(static_cast<size_t>(std::max<int64_t>(sizes.pieces, 1)), 0) {
    if (starts) {
      const Tensor given = starts->contiguous();
      std::copy_n(given.const_data_ptr<int64_t>(), starts_.size(), starts_.begin());
    }
  }

  Tensor make() {
    see_rows();
    if (!places_.can_be_cut()) return sight_;
    if (!places_.is_cut()) {
      const Segments all = places_.segments(sight_);
      cuda::find_documents({of(first_, 0), of(last_, 0)}, sizes_.batch, sizes_.queries,
                           sizes_.batch * cuda::kDocuments, numbers<int32_t>(all.starts),
                           numbers<int32_t>(all.found));
      return sight_;
    }
    if (sizes_.pieces > 0) sort_keys();
    const std::vector<Block> blocks = sizes_.query_blocks();
    for (int64_t b = 0; b < sizes_.batch; ++b)
      for (size_t i = 0; i < blocks.size(); ++i) see_block(b, static_cast<int64_t>(i), blocks[i]);
    return sight_;
  }

 private:
  template <typename T>
  static T* numbers(const Tensor& part) {
    return part.mutable_data_ptr<T>();
  }
  const int64_t* of(const Tensor& keys, int64_t b) const {
    return keys.const_data_ptr<int64_t>() + b * sizes_.queries;
  }

  void see_rows() {
    auto* seen = numbers<int64_t>(places_.seen(sight_));
    for (int64_t b = 0; b < sizes_.batch; ++b)
      for (int64_t row = 0; row < sizes_.queries; row += kSightRows)
        for (const int64_t start : starts_) {
          int64_t begin = sizes_.chunk(), end = 0;
          for (int64_t r = row; r < std::min(row + kSightRows, sizes_.queries); ++r) {
            const Columns columns =
                columns_of_piece(of(first_, b)[r], of(last_, b)[r], start, sizes_.chunk());
            if (columns.count() <= 0) continue;
            begin = std::min(begin, columns.begin);
            end = std::max(end, columns.end);
          }
          *seen++ = begin;
          *seen++ = end;
        }
  }

  void sort_keys() {
    std::vector<int64_t> pieces(starts_.size());
    std::iota(pieces.begin(), pieces.end(), 0);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [&](int64_t a, int64_t b) { return starts_[a] < starts_[b]; });
    auto* order = numbers<int64_t>(places_.order(sight_));
    for (const int64_t piece : pieces) {
      std::iota(order, order + sizes_.chunk(), piece * sizes_.chunk());
      order += sizes_.chunk();
    }
  }

  // How many keys are before a position.
  int64_t before(int64_t position) const {
    if (sizes_.pieces == 0) return std::clamp<int64_t>(position, 0, sizes_.keys);
    int64_t count = 0;
    for (const int64_t start : starts_)
      count += std::clamp<int64_t>(position - start, 0, sizes_.chunk());
    return count;
  }

  void see_block(int64_t b, int64_t i, const Block& block) {
    const BlockSight sight = places_.block(sight_, b, i);
    const int64_t n = block.count;
    const int64_t *first = of(first_, b) + block.begin, *last = of(last_, b) + block.begin;
    const int64_t position = last[0], document = first[0];
    auto* own_first = numbers<int64_t>(sight.first);
    std::vector<int64_t> own_last(static_cast<size_t>(n));
    for (int64_t query = 0; query < n; ++query) {
      own_first[query] = std::max<int64_t>(first[query] - position, 0);
      own_last[static_cast<size_t>(query)] = last[query] - position;
    }
    const int64_t from = before(document), until = before(position);
    const int64_t own = sizes_.pieces == 0 ? n : before(position + n) - until;
    const bool absent = own != n,
               astray = sizes_.pieces == 0 ? position != block.begin : absent && own != 0;
    *numbers<bool>(sight.absent) = absent;
    *numbers<bool>(sight.astray) = astray;
    // Nothing is computed for a block without keys of its own.
    if (!absent)
      cuda::find_documents({own_first, own_last.data()}, 1, n, cuda::kPieceDocuments,
                           numbers<int32_t>(sight.segments.starts),
                           numbers<int32_t>(sight.segments.found));
    if (sight.rows.defined()) {
      const auto* order = places_.order(sight_).const_data_ptr<int64_t>();
      std::copy_n(order + std::clamp<int64_t>(until, 0, sizes_.keys - n), n,
                  numbers<int64_t>(sight.rows));
    }
    const auto seeing = static_cast<int32_t>(std::count(first, first + n, document));
    auto* ends = numbers<int32_t>(sight.query_ends);
    ends[2] = seeing;
    ends[3] = ends[4] = static_cast<int32_t>(n);
    for (const bool backward : {false, true}) {
      int64_t j = 0;
      for (const Block& keys : sizes_.cuts.key_blocks(sizes_.keys, backward)) {
        const int64_t count = seen_before(block, keys, sizes_.pieces == 0);
        const int64_t last_seen = std::clamp<int64_t>(until - keys.begin, 0, count),
                      first_seen =
                          std::min(std::clamp<int64_t>(from - keys.begin, 0, count), last_seen);
        auto* range = numbers<int32_t>(places_.range(sight_, b, i, j++, backward));
        range[1] = static_cast<int32_t>(first_seen);
        range[2] = range[3] = static_cast<int32_t>(last_seen);
        range[4] = static_cast<int32_t>(count);
      }
    }
  }

  SightSizes sizes_;
  SightNumbers places_;
  Tensor first_, last_, sight_;
  std::vector<int64_t> starts_;
};

}  // namespace

SightNumbers::SightNumbers(const SightSizes& sizes)
    : sizes_(sizes),
      can_be_cut_(kernels::can_be_cut(sizes.queries, sizes.keys, sizes.pieces)),
      is_cut_(can_be_cut_ && kernels::is_cut(sizes.queries, sizes.pieces, sizes.cuts)) {
  cut_ = sizes.batch * row_blocks(sizes.queries) * std::max<int64_t>(sizes.pieces, 1) * 2;
  count_ = cut_;
  if (!can_be_cut_) return;
  if (!is_cut_) {
    count_ += words(sizes.batch * cuda::kDocuments + 1) + words(2);
    return;
  }
  blocks_ = sizes.query_blocks();
  forward_ranges_ = static_cast<int64_t>(sizes.cuts.key_blocks(sizes.keys, false).size());
  ranges_ = forward_ranges_ + static_cast<int64_t>(sizes.cuts.key_blocks(sizes.keys, true).size());
  record_ = kRanges + ranges_ * words(kEnds);
  order_ = cut_ + sizes.batch * sizes.queries;
  rows_ = order_ + (sizes.pieces > 0 ? sizes.keys : 0);
  records_ = rows_ + (sizes.pieces > 0 ? sizes.batch * sizes.queries : 0);
  count_ = records_ + sizes.batch * static_cast<int64_t>(blocks_.size()) * record_;
}

Tensor SightNumbers::longs(const Tensor& sight, int64_t at, int64_t count) const {
  TORCH_CHECK(sight.dim() == 1 && sight.size(0) == count_ && sight.is_contiguous(),
              "attention takes ", count_, " numbers of which keys are seen, not ", sight.sizes());
  return sight.narrow(0, at, count);
}

Tensor SightNumbers::ints(const Tensor& sight, int64_t at, int64_t count) const {
  return longs(sight, at, words(count)).view(at::kInt).narrow(0, 0, count);
}

Tensor SightNumbers::seen(const Tensor& sight) const {
  return longs(sight, 0, cut_)
      .view({sizes_.batch, row_blocks(sizes_.queries), std::max<int64_t>(sizes_.pieces, 1), 2});
}

Segments SightNumbers::segments(const Tensor& sight) const {
  const int64_t starts = sizes_.batch * cuda::kDocuments + 1;
  return {ints(sight, cut_, starts), ints(sight, cut_ + words(starts), 2)};
}

BlockSight SightNumbers::block(const Tensor& sight, int64_t b, int64_t i) const {
  const auto [begin, n] = blocks_[static_cast<size_t>(i)];
  const int64_t record = records_ + (b * static_cast<int64_t>(blocks_.size()) + i) * record_,
                query = b * sizes_.queries + begin;
  const Tensor flags = longs(sight, record + kFlags, 1).view(at::kBool);
  return {
      longs(sight, cut_ + query, n).unsqueeze(0),
      {ints(sight, record + kSegments, cuda::kPieceDocuments + 1), ints(sight, record + kFound, 2)},
      flags.select(0, 0),
      flags.select(0, 1),
      sizes_.pieces > 0 ? longs(sight, rows_ + query, n) : Tensor(),
      ints(sight, record + kQueryEnds, kEnds)};
}

Tensor SightNumbers::range(const Tensor& sight, int64_t b, int64_t i, int64_t j,
                           bool backward) const {
  const int64_t record = records_ + (b * static_cast<int64_t>(blocks_.size()) + i) * record_;
  const int64_t of = backward ? forward_ranges_ + j : j;
  return ints(sight, record + kRanges + of * words(kEnds), kEnds);
}

Tensor SightNumbers::order(const Tensor& sight) const {
  return sizes_.pieces > 0 ? longs(sight, order_, sizes_.keys) : Tensor();
}

Tensor sight_of(const Tensor& first, const Tensor& last, const Optional& starts, int64_t keys,
                const Cuts& cuts) {
  const SightSizes sizes{first.size(0), first.size(1), keys, starts ? starts->numel() : 0, cuts};
  TORCH_CHECK(last.sizes() == first.sizes(), "attention takes a first and a last key for each of ",
              first.sizes(), " queries, not ", last.sizes());
  TORCH_CHECK(sizes.pieces == 0 || keys % sizes.pieces == 0, "attention takes ", sizes.pieces,
              " equal pieces of keys, but there are ", keys, " keys");
  return Maker(first, last, starts, sizes).make();
}

Keys keys_of(const Tensor& first, const Tensor& last, const Optional& starts, int64_t keys) {
  return {first, last, starts, sight_of(first, last, starts, keys)};
}

}  // namespace heddle::kernels
