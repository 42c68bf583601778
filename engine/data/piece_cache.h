// Remembers the ids of short pieces: text repeats its words.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::data {

/// A direct-mapped cache of fixed size: a piece has one place, and takes it from the one before.
class PieceCache {
 public:
  PieceCache() : slots_(kSlots) {}

  /// The ids of a piece, empty if they are not remembered.
  std::span<const int32_t> find(std::string_view piece, uint64_t hash) const {
    const Slot& slot = slots_[hash % kSlots];
    if (slot.length != piece.size() ||
        std::memcmp(slot.bytes.data(), piece.data(), piece.size()) != 0)
      return {};
    return {slot.ids.data(), slot.count};
  }

  /// Remembers them if both fit; a piece is never empty.
  void keep(std::string_view piece, uint64_t hash, std::span<const int32_t> ids) {
    Slot& slot = slots_[hash % kSlots];
    if (piece.size() > slot.bytes.size() || ids.size() > slot.ids.size()) return;
    slot.length = static_cast<uint8_t>(piece.size());
    slot.count = static_cast<uint8_t>(ids.size());
    std::memcpy(slot.bytes.data(), piece.data(), piece.size());
    std::memcpy(slot.ids.data(), ids.data(), ids.size_bytes());
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 15;  // 2 MiB: an L2 cache's worth
  struct alignas(64) Slot {                          // a cache line
    uint8_t length = 0;
    uint8_t count = 0;
    std::array<char, 30> bytes{};
    std::array<int32_t, 8> ids{};
  };
  static_assert(sizeof(Slot) == 64);
  std::vector<Slot> slots_;
};

}  // namespace heddle::data
