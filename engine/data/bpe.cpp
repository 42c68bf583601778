#include "engine/data/bpe.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "base/utf8.h"

namespace heddle::data {

size_t BytesHash::operator()(std::string_view bytes) const {
  return XXH3_64bits(bytes.data(), bytes.size());
}

PairTable::PairTable(size_t pairs) : slots_(std::bit_ceil(2 * pairs + 1)) {}

size_t PairTable::slot_of(uint64_t pair) const {
  // Fibonacci hashing: the product's high bits depend on all of the key.
  const size_t mask = slots_.size() - 1;
  size_t slot = (pair * 0x9E3779B97F4A7C15U) >> 32 & mask;
  while (slots_[slot].rank != kNone && slots_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

static uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
}

void PairTable::insert(int32_t left, int32_t right, uint32_t rank) {
  const uint64_t pair = pair_of(left, right);
  slots_[slot_of(pair)] = {pair, rank};
}

uint32_t PairTable::find(int32_t left, int32_t right) const {
  return slots_[slot_of(pair_of(left, right))].rank;
}

Bpe::Bpe(Words words, const ByteIds& byte_ids, std::vector<Merge> merges, Symbols symbols,
         bool whole_words)
    : words_(std::move(words)),
      merges_(std::move(merges)),
      ranks_(merges_.size()),
      byte_ids_(byte_ids),
      begins_with_(symbols),
      whole_words_(whole_words) {
  for (uint32_t rank = 0; rank < merges_.size(); ++rank)
    ranks_.insert(merges_[rank].left, merges_[rank].right, rank);
}

void Bpe::encode(std::string_view piece, std::vector<int32_t>& ids) {
  if (whole_words_) {
    if (const auto word = words_.find(piece); word != words_.end()) {
      ids.push_back(word->second);
      return;
    }
  }
  merge(piece, ids);
}

void Bpe::consider(uint32_t left) {
  const uint32_t right = symbols_[left].next;
  if (right == kEnd) return;
  const uint32_t rank = ranks_.find(symbols_[left].id, symbols_[right].id);
  if (rank == PairTable::kNone) return;
  heap_.push_back({rank, left});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Bpe::begin_with(std::string_view piece) {
  symbols_.clear();
  const auto add = [&](int32_t id) {
    const auto at = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back({id, at - 1, at + 1});
  };
  for (size_t at = 0; at < piece.size();) {
    size_t length = 1;
    if (begins_with_ == Symbols::characters) {
      // A byte that is not UTF-8 comes as a piece of its own.
      length = std::min(character_length(piece.substr(at)), piece.size() - at);
      if (const auto word = words_.find(piece.substr(at, length)); word != words_.end()) {
        add(word->second);
        at += length;
        continue;
      }
    }
    for (const char byte : piece.substr(at, length))
      add(byte_ids_[static_cast<unsigned char>(byte)]);
    at += length;
  }
  if (!symbols_.empty()) symbols_.back().next = kEnd;
}

void Bpe::merge(std::string_view piece, std::vector<int32_t>& ids) {
  begin_with(piece);
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
}

}  // namespace heddle::data
