#include "engine/data/bpe.h"

#include <algorithm>

namespace heddle::data {
namespace {

constexpr size_t kPart = size_t{1} << 16;        // symbols, from which on a place to cut is sought
constexpr size_t kMaxSymbols = size_t{1} << 21;  // at once: some 60 bytes each

}  // namespace

Bpe::Bpe(Words words, SymbolRules rules, std::vector<Merge> merges, WholeWords whole_words)
    : words_(std::make_unique<Words>(std::move(words))),
      begins_with_(std::make_unique<Symbols>(*words_, std::move(rules))),
      merges_(std::move(merges)),
      ranks_(merges_.size()),
      whole_words_(whole_words) {
  for (uint32_t rank = 0; rank < merges_.size(); ++rank)
    ranks_.insert(merges_[rank].left, merges_[rank].right, rank);
}

Result<> Bpe::encode(std::string_view piece, std::vector<int32_t>& ids) {
  if (whole_words_ != WholeWords::none) {
    if (const auto word = words_->find(piece); word != words_->end()) {
      ids.push_back(word->second);
      return {};
    }
  }
  if (whole_words_ == WholeWords::only) {
    const auto unknown = begins_with_->unknown();
    if (!unknown) return fail(unknown);
    ids.push_back(*unknown);
    return {};
  }
  bool too_many = false;
  const auto done = begins_with_->each(piece, [&](int32_t id) {
    if (symbols_.size() >= kPart && may_cut_before(id)) merge(ids);
    too_many = too_many || symbols_.size() == kMaxSymbols;
    if (too_many) return;
    const auto at = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back({id, at - 1, at + 1});
  });
  if (too_many) symbols_.clear();
  merge(ids);
  if (!done) return done;
  if (too_many)
    return fail(
        "a word of {} bytes, of which no {} can be merged at once; valid: text with spaces in it",
        piece.size(), kMaxSymbols);
  return {};
}

bool Bpe::may_cut_before(int32_t id) {
  if (!joins_) joins_ = std::make_unique<Joins>(merges_, begins_with_->all());
  return !joins_->may_join(symbols_.back().id, id);
}

void Bpe::consider(uint32_t left) {
  const uint32_t right = symbols_[left].next;
  if (right == kEnd) return;
  const uint32_t rank = ranks_.find(symbols_[left].id, symbols_[right].id);
  if (rank == PairTable::kNone) return;
  heap_.push_back({rank, left});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

/// Merges the symbols and appends what they become.
void Bpe::merge(std::vector<int32_t>& ids) {
  if (symbols_.empty()) return;
  symbols_.back().next = kEnd;
  heap_.clear();
  for (uint32_t at = 0; at + 1 < symbols_.size(); ++at) consider(at);

  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [rank, at] = heap_.back();
    heap_.pop_back();
    Symbol& left = symbols_[at];
    const Merge& merge = merges_[rank];
    // The pair may have changed since it was put on the heap.
    if (left.id != merge.left || left.next == kEnd || symbols_[left.next].id != merge.right)
      continue;
    Symbol& right = symbols_[left.next];
    left.id = merge.merged;
    left.next = right.next;
    right.id = -1;
    if (left.next != kEnd) symbols_[left.next].previous = at;
    if (left.previous != kEnd) consider(left.previous);
    consider(at);
  }
  for (uint32_t at = 0; at != kEnd; at = symbols_[at].next) ids.push_back(symbols_[at].id);
  symbols_.clear();
}

}  // namespace heddle::data
